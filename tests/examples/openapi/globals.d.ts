// The globals of Node that client.ts uses, so that the types of all of Node need not be installed.
declare const process: {argv: string[]};
