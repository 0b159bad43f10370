// One library of each kind in one program.
#include <fric.h>
#include <fric_mollifier.h>
#include <frictiond.h>

#include <cstdio>

int main()
{
	frictiond *service;
	if (frictiond_create(nullptr, &service))
		return 1;
	frictiond_destroy(service);
	std::printf("f1(eps_v) = %g\n", fric_smooth_friction_f1(1, 1));
}
