/** The person's settings over the app's defaults. Only what was set is stored. */
import type { Connection } from './connection.ts';
import type { Settings } from './records.ts';
import type { Changes, SettingsTable } from './store.ts';

export const DEFAULT_SETTINGS: Settings = {
  theme: 'system',
  mode: 'auto',
  phoneModel: null,
  cloudAccount: null,
  firstRunDone: false,
  persisted: null,
  installDismissed: false,
  // Ten minutes: a small model on a slow phone reads about 15 tokens a second.
  limits: {
    steps: 8,
    calls: 16,
    equalCalls: 2,
    ms: 600_000,
    tokens: 50_000,
    toolCalls: 8,
    dayCost: 2,
  },
};

export const SETTINGS_KEY = 'settings';

export function createSettings(connection: Connection, changes: Changes): SettingsTable {
  return {
    async get() {
      const row = await connection.read(['settings'], (tx) =>
        tx.objectStore('settings').get(SETTINGS_KEY),
      );
      const set = row?.value ?? {};
      return {
        ...DEFAULT_SETTINGS,
        ...set,
        limits: { ...DEFAULT_SETTINGS.limits, ...set.limits },
      };
    },

    async set(change) {
      await connection.write(['settings'], 'relaxed', async (tx) => {
        const store = tx.objectStore('settings');
        const row = await store.get(SETTINGS_KEY);
        await store.put({ key: SETTINGS_KEY, value: { ...row?.value, ...change } });
      });
      changes.announce('settings', SETTINGS_KEY);
    },

    async spend(day, cost) {
      if (!(cost > 0)) return;
      await connection.write(['settings'], 'relaxed', async (tx) => {
        const store = tx.objectStore('settings');
        const { value = {} } = (await store.get(SETTINGS_KEY)) ?? {};
        const before = value.spent?.day === day ? value.spent.cost : 0;
        await store.put({
          key: SETTINGS_KEY,
          value: { ...value, spent: { day, cost: before + cost } },
        });
      });
    },
  };
}
