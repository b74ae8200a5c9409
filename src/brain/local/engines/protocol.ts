/**
 * What a page and an engine's worker say to each other: plain data, the same for every engine.
 *
 * A worker holds one model in its life: to unload or to start anew it is terminated, which is the
 * one way that frees all memory of every engine.
 */
import type { EngineErrorWire } from '../errors.ts';
import type { CatalogueRow, EngineEvent, GenerateRequest } from '../types.ts';

export type Command =
  | {
      readonly type: 'load';
      readonly row: CatalogueRow;
      /** The model must first show that it calculates right on this hardware. */
      readonly selfTest: boolean;
    }
  | { readonly type: 'generate'; readonly id: number; readonly request: GenerateRequest }
  /** Ends the running generation; its `done` still comes. */
  | { readonly type: 'stop'; readonly id: number };

export type Report =
  | { readonly type: 'progress'; readonly fraction: number | null }
  | { readonly type: 'loaded' }
  | { readonly type: 'event'; readonly id: number; readonly event: EngineEvent }
  /** One generation failed; the model stays usable. */
  | { readonly type: 'refused'; readonly id: number; readonly error: EngineErrorWire }
  /** The worker is of no more use: loading failed, the device was lost, the engine crashed. */
  | { readonly type: 'broken'; readonly error: EngineErrorWire };

/** What an engine does inside its worker. */
export interface WorkerEngine {
  load(
    row: CatalogueRow,
    onProgress: (fraction: number | null) => void,
    selfTest: boolean,
  ): Promise<void>;
  generate(request: GenerateRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
}
