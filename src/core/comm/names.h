// SPDX-License-Identifier: BSD-3-Clause
/*
 * Published names (MPI 5.0 section 11.9.4): a port's name under the name of a service.
 *
 * A name is published in the launcher's service, where it has one, for all its jobs, and in a file
 * of the user, for programs of other launchers. Functions return an MPI error class, with the error
 * sentence set.
 */
#ifndef WEFT_NAMES_H
#define WEFT_NAMES_H

/* MPI_ERR_SERVICE: the name is published already. */
int weft_name_publish(const char *service, const char *port);

/* port: MPI_MAX_PORT_NAME bytes. MPI_ERR_NAME: the name is not published. */
int weft_name_lookup(const char *service, char *port);

/* MPI_ERR_SERVICE: the name is not published, or by another process, or with another port. */
int weft_name_unpublish(const char *service, const char *port);

#endif
