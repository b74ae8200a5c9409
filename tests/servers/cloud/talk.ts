/** What the model behind the test server reads and writes, whichever wire it came over. */

export type Json = Record<string, unknown>;

export interface SeenCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
}

/** A picture as it arrived, told by its bytes. */
export interface SeenImage {
  readonly mime: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
}

export type SeenTurn =
  | { readonly role: 'user'; readonly text: string; readonly images?: readonly SeenImage[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly SeenCall[] }
  | {
      readonly role: 'tool';
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
      readonly images?: readonly SeenImage[];
    };

export interface SeenTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

export interface Seen {
  readonly model: string;
  readonly system: string;
  readonly turns: readonly SeenTurn[];
  readonly tools: readonly SeenTool[];
  readonly toolChoice: 'auto' | 'none' | 'required';
}

export interface ReplyCall {
  readonly name: string;
  readonly args: Json;
  /** Written instead of the JSON of `args` where the model is to get it wrong. */
  readonly raw?: string;
}

export interface Reply {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly ReplyCall[];
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function object(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function parseJson(source: string): unknown {
  try {
    return JSON.parse(source) as unknown;
  } catch {
    return undefined;
  }
}
