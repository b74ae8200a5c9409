/** Which cloud models can see pictures, told by their names, and only where that is sure. */
import type { CloudAccount } from '../../store/records.ts';

/**
 * Families of which every member takes pictures. Behind a vendor's path (`openai/gpt-5`) or a size
 * (`gemma3:12b`) the name is the same; the small Gemma 3 (270M, 1B) and the text variants are left out.
 */
const SEEING = [
  /^gpt-(4o|4\.1|4\.5|5|6)(?!.*(audio|realtime|transcribe|tts|search))/,
  /^chatgpt-4o/,
  /^o[134](?!-(mini|preview)\b)|^o4-mini/,
  /^claude-/,
  /^gemini-(?!.*(embedding|tts|live|audio))/,
  /^pixtral/,
  /^mistral-(medium-latest|medium-3|small-latest|small-3\.[12]|large-latest)/,
  /^gemma-?3[:-](4b|12b|27b)/,
  /^(qwen[\d.]*-?vl|llava|minicpm-v|llama-?3\.2-?(?:11b-|90b-)?vision|llama-?4|internvl|moondream)/,
];

/** Whether a model can see pictures: as the person said, or else as its name says. */
export function seesPictures({
  preset,
  model,
  images,
}: Pick<CloudAccount, 'preset' | 'model' | 'images'>): boolean {
  if (images !== undefined) return images;
  const path = model.toLowerCase().replace(/^models\//, '');
  // It chooses among models that take what is in the request.
  if (preset === 'openrouter' && path === 'openrouter/auto') return true;
  const name = path.split('/').at(-1) ?? '';
  return SEEING.some((family) => family.test(name));
}
