#include "core/motion/dofs.h"

size_t fric_n_dofs(const struct fric_contacts *contacts)
{
	return n_dofs(contacts);
}
