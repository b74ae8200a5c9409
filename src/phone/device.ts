/** What the browser tells of the phone. Each part may be missing; nothing here throws. */

export interface Device {
  readonly online: () => boolean;
  /** `wifi`, `cellular`, … where the browser says; null where it does not. */
  readonly network: () => string | null;
  /** Charge from 0 to 1; null where the browser does not say. */
  readonly battery: () => Promise<{ readonly level: number; readonly charging: boolean } | null>;
  /** Bytes used by this app, and bytes that it may use. */
  readonly storage: () => Promise<{ readonly used: number; readonly quota: number } | null>;
}

/** Parts of `navigator` that not every browser has, and that TypeScript does not know. */
interface Extras {
  readonly connection?: { readonly type?: string; readonly effectiveType?: string };
  readonly getBattery?: () => Promise<{ readonly level: number; readonly charging: boolean }>;
}

export function browserDevice(from: Navigator = navigator): Device {
  const extras = from as Navigator & Extras;
  return {
    online: () => from.onLine,
    network: () => extras.connection?.type ?? extras.connection?.effectiveType ?? null,
    async battery() {
      const battery = await extras.getBattery?.().catch(() => null);
      return battery ? { level: battery.level, charging: battery.charging } : null;
    },
    async storage() {
      const estimate = await from.storage?.estimate().catch(() => null);
      if (!estimate) return null;
      return { used: estimate.usage ?? 0, quota: estimate.quota ?? 0 };
    },
  };
}
