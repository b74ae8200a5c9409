/**
 * Whether this browser's WebGPU can run WebLLM, found out before anything is fetched or loaded:
 * the library itself looks only after megabytes have arrived.
 */
import { EngineError } from '../errors.ts';
import { inTime } from '../in-time.ts';
import type { CatalogueRow } from '../types.ts';

const MIB = 1 << 20;
const mib = (bytes: number): string => `${Math.round(bytes / MIB)} MB`;

/**
 * What WebLLM 0.2.86 asks of an adapter at the least (`detectGPUDevice` in its tvmjs); less, and it
 * refuses.
 */
const LEAST = {
  maxBufferSize: 256 * MIB,
  maxStorageBufferBindingSize: 128 * MIB,
  maxComputeWorkgroupStorageSize: 32 << 10,
  maxStorageBuffersPerShaderStage: 10,
} as const;

export type GpuReport =
  | {
      readonly usable: true;
      /** An emulation on the CPU: right, but slower than an engine made for the CPU. */
      readonly software: boolean;
      readonly f16: boolean;
      /** What the browser tells of the chip: the same for the same phone and driver. */
      readonly device: string;
      readonly features: ReadonlySet<string>;
      /** Bytes of the largest buffer that a model can have on it. */
      readonly largestBuffer: number;
    }
  /** Why not, as a sentence for the person. */
  | { readonly usable: false; readonly why: string };

function isSoftware(info: GPUAdapterInfo): boolean {
  return (
    info.isFallbackAdapter ||
    /swiftshader|llvmpipe|software/i.test(
      JSON.stringify([info.architecture, info.description, info.device]),
    )
  );
}

const deviceName = ({ vendor, architecture, device, description }: GPUAdapterInfo): string =>
  [vendor, architecture, device, description].filter(Boolean).join(' ');

/** Milliseconds after which a browser that offers no adapter is not waited for. */
const ADAPTER_MS = 10_000;

/** Asks for an adapter, as WebLLM will, and looks at its limits. */
export async function probeGpu(): Promise<GpuReport> {
  if (!('gpu' in navigator) || !navigator.gpu)
    return { usable: false, why: 'This browser has no WebGPU.' };
  // A GPU process that hangs answers never: then there is none.
  const adapter = await inTime(
    navigator.gpu.requestAdapter({ powerPreference: 'high-performance' }),
    null,
    ADAPTER_MS,
  );
  if (!adapter) return { usable: false, why: 'This browser offers no usable GPU.' };
  for (const [name, least] of Object.entries(LEAST)) {
    const has = adapter.limits[name as keyof typeof LEAST];
    if (has < least)
      return {
        usable: false,
        why: `The GPU of this phone is too small for it (${name} is ${has}, ${least} is needed).`,
      };
  }
  return {
    usable: true,
    software: isSoftware(adapter.info),
    f16: adapter.features.has('shader-f16'),
    device: deviceName(adapter.info),
    features: adapter.features,
    largestBuffer: Math.min(
      adapter.limits.maxBufferSize,
      adapter.limits.maxStorageBufferBindingSize,
    ),
  };
}

/** MLC names the number format in its files, e.g. `gemma3-1b-it-q4f16_1`: f16 wants shader-f16. */
const needsF16 = (row: CatalogueRow): boolean =>
  row.features?.includes('shader-f16') ||
  row.files.some((file) => file.path.endsWith('.wasm') && /q\df16/.test(file.path));

/** Why this GPU cannot run the row, as a sentence for the person; undefined where it can. */
export function gpuUnfit(row: CatalogueRow, report: GpuReport): string | undefined {
  if (!report.usable) return report.why;
  if (needsF16(row) && !report.f16)
    return 'The GPU of this phone cannot calculate in 16 bits, which this model needs.';
  const lacks = row.features?.find((name) => !report.features.has(name));
  if (lacks) return `The GPU of this phone lacks what this model needs (${lacks}).`;
  if (row.largestBuffer !== undefined && row.largestBuffer > report.largestBuffer)
    return `A part of this model is ${mib(row.largestBuffer)}, and the GPU of this phone takes ${mib(report.largestBuffer)} at a time.`;
  return undefined;
}

/** Throws an EngineError of kind `unfit` where the row cannot run here. */
export async function checkGpu(row: CatalogueRow): Promise<void> {
  const why = gpuUnfit(row, await probeGpu());
  if (why) throw new EngineError('unfit', why);
}
