# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The options of the scripts of bench/ and of ci/, which source this and define a function `usage`. Never
# run.

# read_options SPEC... -- ARGUMENT...: sets variables by the arguments. A SPEC is
#   m,mpi:mpis      -m and --mpi take a value, of the variable mpis
#   quick=pairs=20  --quick sets pairs to 20
#   @tables         other words are added to the array tables; without it there may be none
# Wrong arguments end the script with the usage and exit status 2.
read_options()
{
    local -A variable=() setting=()
    local name operand_array=
    while [[ $1 != -- ]]; do
        case $1 in
        @*) operand_array=${1#@} ;;
        *=*) setting[--${1%%=*}]=${1#*=} ;;
        *)
            name=${1%:*}
            for name in ${name//,/ }; do
                [[ $name == ? ]] || name=-$name
                variable[-$name]=${1#*:}
            done
            ;;
        esac
        shift
    done
    shift
    while (($# > 0)); do
        name=${1:--}
        if [[ $1 == -h || $1 == --help ]]; then
            usage && exit 0
        elif [[ -n ${variable[$name]:-} && -n ${2:-} ]]; then
            printf -v "${variable[$name]}" %s "$2"
            shift
        elif [[ -n ${setting[$name]:-} ]]; then
            printf -v "${setting[$name]%%=*}" %s "${setting[$name]#*=}"
        elif [[ -n $operand_array && $1 != -* ]]; then
            eval "$operand_array+=(\"\$1\")"
        else
            usage >&2 && exit 2
        fi
        shift
    done
}
