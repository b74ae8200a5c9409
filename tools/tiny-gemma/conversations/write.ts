/**
 * Writes conversations for the demo model, one a line, as the app itself renders them:
 *
 *   npx tsx tools/tiny-gemma/conversations/write.ts FILE SEED COUNT [held-out [strange]]
 *
 * `pieces` are prompt and reply by turns, `learn` says which of them the model is to say, `kind` what
 * the conversation is about. With `held-out` they are in wordings that the others never use; names and
 * words that nobody knows are then left out, unless with `strange`.
 */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { createChance } from './chance.ts';
import { conversation } from './conversation.ts';
import type { Draw } from './task.ts';
import { openToolset } from './tools.ts';

async function main([file, seed, count, side, strange]: readonly string[]): Promise<void> {
  if (file === undefined || seed === undefined || count === undefined) {
    console.error('Usage: write.ts FILE SEED COUNT [held-out]');
    process.exitCode = 2;
    return;
  }
  const tools = await openToolset();
  const out = createWriteStream(file);
  const draw: Draw = {
    chance: createChance(Number(seed)),
    heldOut: side === 'held-out',
    strange: side === undefined || strange !== undefined,
  };
  for (let at = 0; at < Number(count); at += 1) {
    const { kind, pieces, learn } = await conversation(tools, draw);
    if (!out.write(`${JSON.stringify({ kind, pieces, learn })}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

await main(process.argv.slice(2));
