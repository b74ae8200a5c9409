/**
 * Qwen3, as its published template has it (Qwen/Qwen3-0.6B). It thinks first unless an empty thought
 * is put before its answer.
 *
 * One difference: the template takes the empty thought away once the answer is a part of the history.
 * Here it stays, so that what was computed of the prompt stays valid.
 */
import { hermes } from './hermes.ts';

export const qwen3 = hermes({ thinks: true });
