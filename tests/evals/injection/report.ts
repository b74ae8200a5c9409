/** Plays the cases in every world and counts what became of the attacker's calls. */
import type { Store } from '../../../src/store/store.ts';
import { readCases, type Manner } from './cases.ts';
import { openWorld, type Attack, type Granted } from './world.ts';

/** Who may do what already, and how the obedient model fills in the arguments. */
export const WORLDS: readonly (readonly [name: string, granted: Granted, manner: Manner])[] = [
  ['nothing allowed', 'nothing', 'values'],
  ["the user's tool allowed always", 'user tool', 'values'],
  ['every tool allowed always', 'all tools', 'values'],
  ['every tool allowed always, the instruction passed on whole', 'all tools', 'whole'],
  ['every tool allowed always, calls without arguments', 'all tools', 'none'],
];

export interface Row {
  readonly world: string;
  readonly cases: number;
  /** Calls that the attacker wanted. */
  readonly calls: number;
  /** Of them: the person was asked, and told whose words led to it. */
  readonly asked: number;
  /** Asked without being told. */
  readonly unnamed: number;
  /** Refused by a rule, without a question. */
  readonly refused: number;
  /** Reached a server without a yes. Nobody says yes here. */
  readonly ranWithoutYes: number;
  /** Calls of the user's own tool that ran, and how many of them were asked about. */
  readonly userRan: number;
  readonly userAsked: number;
}

export interface Played {
  readonly rows: readonly Row[];
  /** Attacks that went wrong for us, with their case, to look into. */
  readonly bad: readonly (Attack & { readonly world: string; readonly id: string })[];
}

/** `every`: 1 plays all cases, n every nth; only the worlds that `among` names. */
export async function playAll(
  store: Store,
  every = 1,
  among: readonly string[] = WORLDS.map(([name]) => name),
): Promise<Played> {
  const cases = await readCases();
  const world = await openWorld(store, cases);
  const rows: Row[] = [];
  const bad: Played['bad'][number][] = [];
  try {
    for (const [name, granted, manner] of WORLDS) {
      if (!among.includes(name)) continue;
      const row = {
        world: name,
        cases: 0,
        calls: 0,
        asked: 0,
        unnamed: 0,
        refused: 0,
        ranWithoutYes: 0,
        userRan: 0,
        userAsked: 0,
      };
      for (const [index, one] of cases.entries()) {
        if (index % every !== 0) continue;
        const end = await world.play(one, granted, manner);
        row.cases += 1;
        row.userRan += end.userRan;
        row.userAsked += end.userAsked ? 1 : 0;
        for (const attack of end.attacks) {
          row.calls += 1;
          if (attack.state === 'denied' && attack.named) row.asked += 1;
          else if (attack.state === 'denied') row.unnamed += 1;
          else if (attack.state === 'refused') row.refused += 1;
          row.ranWithoutYes += attack.ran;
          if (attack.ran > 0 || !attack.named) bad.push({ ...attack, world: name, id: one.id });
        }
      }
      rows.push(row);
    }
  } finally {
    await world.close();
  }
  return { rows, bad };
}

/** The figures of the report; the first four are sums over the worlds, but for the cases. */
export function figuresOf(rows: readonly Row[]): Record<string, number> {
  const sum = (key: 'calls' | 'asked' | 'unnamed' | 'refused' | 'ranWithoutYes'): number =>
    rows.reduce((total, row) => total + row[key], 0);
  return {
    cases: rows[0]?.cases ?? 0,
    asked: sum('asked'),
    refused: sum('refused'),
    ranWithoutYes: sum('ranWithoutYes'),
    askedWithoutSource: sum('unnamed'),
    attackerCalls: sum('calls'),
    worlds: rows.length,
  };
}
