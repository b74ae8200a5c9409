import { describe, expect, it } from 'vitest';
import { resultText } from '../../../src/mcp/render.ts';
import { createToolbox } from '../../../src/mcp/toolbox.ts';
import type { Device } from '../../../src/phone/device.ts';
import { createPhone } from '../../../src/phone/phone.ts';
import { newHost, newStore, never } from '../mcp/setup.ts';

const NOW = new Date('2026-11-29T14:05:00+05:30');
const DEVICE: Device = {
  online: () => true,
  network: () => 'wifi',
  battery: async () => ({ level: 0.82, charging: false }),
  storage: async () => ({ used: 300e6, quota: 2_000e6 }),
};

async function phone(device: Partial<Device> = {}) {
  const store = await newStore();
  const timeZone = () => 'Asia/Kolkata';
  const server = createPhone({
    store,
    now: () => NOW.getTime(),
    timeZone,
    device: { ...DEVICE, ...device },
  });
  const { host } = await newHost({ store, inPage: [server], online: () => false });
  const toolbox = createToolbox({ store, host, timeZone });
  const { tools } = await toolbox.offer('', { maxTools: 9, maxTokens: 9e9, cost: () => 1 });
  const bind = (name: string, args: Record<string, unknown>) =>
    toolbox.bind({ id: 'c', name, args, raw: '' }, tools, NOW);
  const call = async (name: string, args: Record<string, unknown>) => {
    const bound = bind(name, args);
    if (!bound.ok) return bound.error;
    return resultText(await toolbox.call(bound.call, never()), 'This phone', 5_000);
  };
  return { store, host, tools, bind, call };
}

describe("the phone's hands, through the same client as every server, without a network", () => {
  it('are offered at once: only reminders change something', async () => {
    const { tools } = await phone();
    expect(tools.map(({ name, readOnly, local }) => [name, readOnly, local])).toEqual([
      ['set_reminder', false, true],
      ['now', true, true],
      ['device_status', true, true],
    ]);
  });

  it('tell the time where the phone is', async () => {
    const { call } = await phone();
    expect(await call('now', {})).toBe(
      '{"now":"Sunday 29 November 2026, 14:05","iso":"2026-11-29T08:35:00.000Z","time_zone":"Asia/Kolkata"}',
    );
  });

  it('tell how the phone is', async () => {
    const { call } = await phone();
    expect(await call('device_status', {})).toBe(
      '{"online":true,"network":"wifi","battery_percent":82,"charging":false,"storage_used_mb":300,"storage_free_mb":1700}',
    );
  });

  it('leave out what the browser does not say', async () => {
    const { call } = await phone({
      online: () => false,
      network: () => null,
      battery: async () => null,
      storage: async () => null,
    });
    expect(await call('device_status', {})).toBe('{"online":false}');
  });

  it('keep a reminder at the time that was meant', async () => {
    const { call, bind, store } = await phone();
    expect(bind('set_reminder', { text: 'call mum', at: 'tomorrow 9am' })).toMatchObject({
      call: { days: [{ said: 'tomorrow 9am', shown: 'Monday, 30 November, 09:00' }] },
    });
    expect(await call('set_reminder', { text: ' call mum ', at: 'tomorrow 9am' })).toBe(
      '{"ok":true,"text":"call mum","at":"Monday 30 November 2026, 09:00"}',
    );
    expect(await store.reminders.all()).toMatchObject([
      { text: 'call mum', at: Date.parse('2026-11-30T09:00:00+05:30'), state: 'waiting' },
    ]);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['a time that has passed', { text: 'x', at: 'yesterday' }, /has passed: Saturday 28 November/],
    ['a time far away', { text: 'x', at: '2099-01-01' }, /more than ten years/],
    ['no text', { text: '   ', at: 'tomorrow' }, /nothing to remind/],
    ['no time', { text: 'x' }, /argument at .*is missing/],
    ['words that are no time', { text: 'x', at: 'soonish' }, /must be a date-time/],
  ])('refuse %s in words', async (_, args, words) => {
    const { call, store } = await phone();
    expect(await call('set_reminder', args)).toMatch(words);
    expect(await store.reminders.all()).toEqual([]);
  });

  it('do not fill the phone with reminders', async () => {
    const { call, store } = await phone();
    for (let i = 0; i < 500; i += 1)
      await store.reminders.put({
        id: String(i),
        text: 'x',
        at: NOW.getTime() + 1e6,
        createdAt: 0,
        state: 'waiting',
      });
    expect(await call('set_reminder', { text: 'x', at: 'tomorrow' })).toMatch(/too many/);
  });

  it('answer as the protocol says to what they do not know', async () => {
    const { host, tools } = await phone();
    const [tool] = tools;
    if (!tool) throw new Error('No tool.');
    expect(await host.callTool({ ...tool, name: 'fly' }, {}, never())).toMatchObject({
      kind: 'tool_error',
      content: [{ text: expect.stringContaining('Unknown tool: fly') }],
    });
  });
});
