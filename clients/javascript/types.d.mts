// SPDX-License-Identifier: MIT
/**
 * The numbers of requests and answers, and results that depend on the request. openapi.d.mts, which is generated, has
 * the documents themselves.
 */
import type { DefaultOutput, EvaluateAnswer, FieldPointer, HessianFormat, HessianTriangle, Output, PatternFormat, Routes,
	ValueOfField, VjpAnswer } from "./openapi.mjs";

declare global {
	/** As in TypeScript's library esnext.disposable, which a program need not have. */
	interface SymbolConstructor {
		readonly asyncDispose: unique symbol;
	}
}

/** An array that is sent in binary, in a frame: row by row, [n, 3] as 3 n numbers. Int8 … Uint16 are sent as int32. */
export type TypedArray = Float64Array | Float32Array | Int32Array | Uint32Array | BigInt64Array
	| Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array;
/** Numbers in one row. */
export type Vector = readonly number[] | TypedArray;
/** Numbers in rows, or the same numbers flat, row by row. */
export type Matrix = Vector | readonly Vector[];
/** Matrices, or the same numbers flat, row by row. */
export type Tensor = Matrix | readonly (readonly Vector[])[];

/** Numbers of an answer: flat, row by row. `shape` has the lengths of the dimensions, e.g. [n_vertices, 3]. */
export type Doubles = Float64Array & { readonly shape: readonly number[] };
/** Indices of an answer, with a `shape` as in Doubles. */
export type Integers = Int32Array & { readonly shape: readonly number[] };

/** RFC 7396: objects are merged member by member, null removes a member, any other value replaces the old one. */
export type MergePatch<T> = T extends readonly unknown[] | TypedArray ? T
	: T extends object ? { readonly [K in keyof T]?: MergePatch<T[K]> | null } : T;

/** T without the properties in `K`; of a union, each member without them. */
export type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export interface Abortable {
	/** Ends the request early: the promise is rejected with the signal's reason. */
	signal?: AbortSignal;
}

/** A Hessian in one of the formats `F`. The pattern is present unless `pattern: false` was requested. */
export type HessianIn<F extends HessianFormat, P extends boolean> =
	WithPattern<Extract<NonNullable<EvaluateAnswer["hessian"]>, { format: F }>, P>;
type WithPattern<H, P extends boolean> = H extends unknown
	? H & (P extends true ? Required<Pick<H, keyof H & ("rows" | "cols" | "indptr" | "indices")>> : unknown) : never;

/** A literal list of outputs makes them present. If the type of `outputs` allows every output, each may be missing. */
type Requested<O extends Output> = [Output] extends [O] ? never : O;

/** The answer to a request with the outputs O, the Hessian in the format F, and its pattern if P is true. */
export type Evaluated<O extends Output = DefaultOutput, F extends HessianFormat = "triplets", P extends boolean = true> =
	Omit<EvaluateAnswer, "hessian" | Requested<O>>
	& Required<Pick<EvaluateAnswer, Exclude<Requested<O>, "hessian">>>
	& ("hessian" extends Requested<O> ? { hessian: HessianIn<F, P> } : { hessian?: HessianIn<F, P> });

/** The members of a request that determine which members its answer has. */
export interface Asked<O extends Output, F extends HessianFormat, P extends boolean> {
	outputs?: readonly O[];
	hessian?: { format?: F, pattern?: P };
}

/** The answer to a vjp: the derivatives with respect to each field of `wrt`, in the shape in which it was sent. */
export type Pulled<W extends FieldPointer> = Omit<VjpAnswer, "cotangents"> & { cotangents: { [F in W]: ValueOfField[F] } };

/** A Hessian without its values. */
export type PatternIn<F extends PatternFormat> =
	Extract<Routes["GET /v1/sets/{name}/pattern"]["answer"], { format: F }>;

export interface PatternOptions<F extends PatternFormat> extends Abortable {
	/** csr by default. */
	format?: F;
	/** full by default. */
	triangle?: HessianTriangle;
}

export interface ClientOptions {
	/** Sent as `Authorization: Bearer TOKEN`. */
	token?: string | null;
	/** Number of retries after 503, 429, 502, 504 and failed connections; 5 by default. */
	retries?: number;
	/** Seconds for each try; 300 by default. */
	timeout?: number;
	/** false: everything is JSON; true by default. */
	frames?: boolean;
}

/** Any route of the service: "POST /v1/evaluate". */
export type Route = keyof Routes;
type NotEmpty<T, K extends string> = keyof T extends never ? { [N in K]?: undefined }
	: {} extends T ? { [N in K]?: T } : { [N in K]: T };
/** The options of a request to a route: `path` and `query` parameters, `body`, further `headers`. */
export type RouteOptions<R extends Route> = Abortable & { headers?: Record<string, string> }
	& NotEmpty<Routes[R]["path"], "path"> & NotEmpty<Routes[R]["query"], "query">
	& (Routes[R]["body"] extends undefined ? { body?: undefined } : { body: Routes[R]["body"] });
/** The options as an argument, which may be left out if each of them may. */
export type RouteArguments<R extends Route> =
	{} extends RouteOptions<R> ? [options?: RouteOptions<R>] : [options: RouteOptions<R>];

export interface RouteAnswer<R extends Route> {
	status: number;
	headers: { get(name: string): string | null };
	/** null if the answer has no body. */
	document: Routes[R]["answer"];
}
