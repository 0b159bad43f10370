/** A self-signed certificate and its key, as files. */
#ifndef SIMULATOR_IDENTITY_H
#define SIMULATOR_IDENTITY_H

#include <stdbool.h>

enum { IDENTITY_PATH = 32 };

/* @return false if they cannot be made */
bool identity_make(char certificate_path[IDENTITY_PATH], char key_path[IDENTITY_PATH]);

#endif
