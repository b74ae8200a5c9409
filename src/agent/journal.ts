/**
 * The record of one turn: its parts, in order, each durable before the loop goes on. The loop keeps
 * no other state, so a turn that was cut off goes on from its journal.
 */
import type { Part } from '../store/records.ts';

export interface Journal {
  /** The parts so far. */
  parts(): readonly Part[];
  /** Adds a part; resolves with its index when it is durable. */
  append(part: Part): Promise<number>;
  /** Replaces a part; resolves when it is durable. */
  replace(index: number, part: Part): Promise<void>;
  /** Replaces a growing text at once for readers and durably soon; `append`, `replace` and `flush` wait for it. */
  grow(index: number, part: Part): void;
  flush(): Promise<void>;
  /** Moves the call at `index` from `allowed` to `running`, durably; false where it is not `allowed`. */
  claim(index: number, startedAt: number): Promise<boolean>;
}

/** Another tab runs this turn: what this run knows of it is out of date. */
export class TakenOver extends Error {
  override readonly name = 'TakenOver';
}
