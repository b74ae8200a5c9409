/**
 * ChatML, for every model without a file of its own: SmolLM2, Qwen2.5, Hermes. Turns are as SmolLM2's
 * published template has them; that one knows no tools, so these are as in Qwen2.5's, which the others
 * share.
 */
import { hermes } from './hermes.ts';

/** Tokens of SmolLM2's training on code. */
const SMOLLM2 =
  '<(?:repo_name|reponame|file_sep|filename|gh_stars|issue_(?:start|comment|closed)|jupyter_(?:start|text|code|output|script)|empty_output)>';

export const chatml = hermes({ thinks: false, control: SMOLLM2 });
