C     SPDX-License-Identifier: BSD-3-Clause
C     Fixed source form, with names in the manglings of other compilers.
      PROGRAM FIXED
      INCLUDE 'mpif.h'
      INTEGER IERR, RANK, STATUS(MPI_STATUS_SIZE), X(4)
      DOUBLE PRECISION T
      INTEGER(KIND=MPI_ADDRESS_KIND) A
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERR)
      T = MPI_WTIME()
      X(1) = 5
      CALL MPI_SENDRECV(X(1), 1, MPI_INTEGER, 0, 1, X(2), 1,
     &    MPI_INTEGER, 0, 1, MPI_COMM_SELF, STATUS, IERR)
      A = MPI_AINT_ADD(INT(5, MPI_ADDRESS_KIND),
     &    INT(6, MPI_ADDRESS_KIND))
      IF (X(2) .NE. 5 .OR. STATUS(MPI_TAG) .NE. 1) STOP 1
      IF (A .NE. 11 .OR. MPI_WTIME() .LT. T) STOP 2
      CALL MPI_FINALIZE(IERR)
      END
