import { SettingRefused, type TracingConfig } from './config.ts';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

type Read = (name: string) => string | null;

/** Returns null if no endpoint is set, or if traces are switched off by the usual variables. */
export function readTracing(read: Read): TracingConfig | null {
  const hasContent = readSwitch(read, 'RUNWIRE_TRACE_CONTENT');
  const base = read('OTEL_EXPORTER_OTLP_ENDPOINT');
  const url =
    read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base === null ? null : `${base.replace(/\/$/, '')}/v1/traces`);
  if (url === null || read('OTEL_SDK_DISABLED') === 'true' || read('OTEL_TRACES_EXPORTER') === 'none') return null;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new SettingRefused('OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that begins with http:// or https://.');
  }
  for (const name of ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL']) {
    const protocol = read(name);
    if (protocol !== null && protocol !== 'http/protobuf') {
      throw new SettingRefused(`${name} must be http/protobuf, the only protocol that this server speaks; unset it.`);
    }
  }
  return { url, ...readSampler(read), hasContent };
}

function readSampler(read: Read): Pick<TracingConfig, 'sampler' | 'ratio'> {
  const name = read('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const sampler = SAMPLERS.find((known) => known === name);
  if (sampler === undefined) throw new SettingRefused(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}.`);
  const ratio = Number(read('OTEL_TRACES_SAMPLER_ARG') ?? '1');
  if (sampler.endsWith('traceidratio') && !(ratio >= 0 && ratio <= 1)) {
    throw new SettingRefused('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
  }
  return { sampler, ratio };
}

function readSwitch(read: Read, name: string): boolean {
  const value = read(name) ?? 'false';
  if (value !== 'true' && value !== 'false') throw new SettingRefused(`${name} must be true or false.`);
  return value === 'true';
}
