#include "server/settings/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Removes leading and trailing spaces, in place. */
static char *trim(char *text)
{
	char *end = text + strlen(text);
	while (end > text && is_space(end[-1]))
		*--end = '\0';
	while (is_space(*text))
		text++;
	return text;
}

static const char *read_text(FILE *file, char *text)
{
	const size_t n = fread(text, 1, SRV_MAX_CONFIG + 1, file);
	if (ferror(file))
		return strerror(errno);
	if (n > SRV_MAX_CONFIG)
		return "it is longer than 64 KiB";
	text[n] = '\0';
	return strlen(text) == n ? NULL : "it contains a zero byte";
}

bool srv_config_open(struct srv_config *config, const char *path, const char **fault)
{
	*config = (struct srv_config){0};
	FILE *file = fopen(path, "re");
	if (!file) {
		*fault = strerror(errno);
		return false;
	}
	config->text = config->rest = malloc(SRV_MAX_CONFIG + 2);
	*fault = config->text ? read_text(file, config->text) : "there is no memory";
	fclose(file);
	if (!*fault)
		return true;
	free(config->text);
	return false;
}

static bool split(struct srv_config *config, char *line, const char **fault)
{
	char *equals = strchr(line, '=');
	if (!equals) {
		*fault = "no '=': a line has the form name = value";
		return false;
	}
	*equals = '\0';
	config->name = trim(line);
	config->value = trim(equals + 1);
	*fault = *config->name ? NULL : "no name before '='";
	return *config->name;
}

bool srv_config_next(struct srv_config *config, const char **fault)
{
	*fault = NULL;
	while (*config->rest) {
		char *line = config->rest;
		config->rest += strcspn(line, "\n");
		if (*config->rest)
			*config->rest++ = '\0';
		config->line++;
		line = trim(line);
		if (*line && *line != '#')
			return split(config, line, fault);
	}
	return false;
}
