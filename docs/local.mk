# SPDX-License-Identifier: BSD-3-Clause
# Man pages and documents that are installed.

dist_man_MANS += docs/mpicc.1 docs/mpicc_abi.1 docs/weftcc.1 docs/weftrun.1
dist_man_MANS += docs/weft_info.1 docs/mpicxx.1 docs/mpic++.1 docs/mpicxx_abi.1 docs/weftc++.1
dist_man_MANS += docs/mpifort.1 docs/mpif90.1 docs/mpif77.1 docs/mpifort_abi.1 docs/weftfort.1
dist_man_MANS += docs/mpiexec.1 docs/mpirun.1 docs/weft-report.1 docs/weft-run-as.1
dist_man_MANS += docs/weft_latency.1 docs/weft_bw.1
# The documents are installed into one folder: links between them lose their folders, and those to
# what is not installed become text. Pictures are left out.
DOCUMENTS = README.md CONTRIBUTING.md SECURITY.md docs/CODES.md docs/STATUS.md docs/GUIDE.md \
    docs/INTERNALS.md docs/RELIABILITY.md docs/FAULTS.md docs/PERFORMANCE.md docs/RELEASES.md
EXTRA_DIST += $(DOCUMENTS)
INSTALLED_DOCUMENTS = $(patsubst %,docs/installed/%,$(notdir $(DOCUMENTS)))
nodist_doc_DATA = $(INSTALLED_DOCUMENTS)
CLEANFILES += $(INSTALLED_DOCUMENTS)
install_links = -e '/^!\[/d' -e 's|\](docs/|](|g' -e 's|\](\.\./|](|g' \
    -e 's|\[\([^][]*\)\]([a-z]*/[^)]*)|\1|g' -e 's|\[\([^][]*\)\](weftrun\.1)|\1|g'
docs/installed/%.md: $(srcdir)/docs/%.md Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed $(install_links) $< >$@
docs/installed/%.md: $(srcdir)/%.md Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed $(install_links) $< >$@

# Pages of weftrun --profile
EXTRA_DIST += docs/gallery/make docs/gallery/imbalance.html docs/gallery/late_progress.html \
    docs/gallery/late_receiver.html docs/gallery/small_messages.html

# What bench/report drew, and from what
EXTRA_DIST += docs/performance/front.svg docs/performance/index.html docs/performance/latency.dat \
    docs/performance/frontend.dat docs/performance/binaries.dat \
    docs/performance/rate.dat docs/performance/net.dat docs/performance/staged.dat \
    docs/performance/memory.dat docs/performance/limits.dat docs/performance/coll_cost.dat \
    docs/performance/coll_node.dat $(wildcard $(srcdir)/docs/performance/osu.dat) \
    $(wildcard $(srcdir)/docs/performance/coll_rounds.dat) \
    docs/performance/overlap.dat docs/performance/startup.dat docs/performance/application.dat
# The same beside Debian 13's MPIs, by ci/peers
EXTRA_DIST += $(wildcard $(srcdir)/docs/performance/debian13/*.dat) \
    docs/performance/debian13/index.html \
    $(wildcard $(srcdir)/docs/performance/near/*.dat) docs/performance/near/index.html

# Whether they say what the tree is
dist_check_SCRIPTS += tests/docs/run
TESTS += tests/docs/run
