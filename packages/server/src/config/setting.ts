import { StartRefused } from '../domain/start-refused.ts';

/** A setting that cannot be used. */
export class SettingRefused extends StartRefused {
  override readonly name = 'SettingRefused';
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Set to nothing is not set: `PORT= npm start` is a common way to say so. */
export function isSet(env: Environment, name: string): boolean {
  return env[name] !== undefined && env[name] !== '';
}

export function readUrl(env: Environment, name: string): string | null {
  if (!isSet(env, name)) return null;
  const text = String(env[name]);
  const url = URL.parse(text);
  const usable = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!usable || url.username !== '' || url.password !== '') {
    throw new SettingRefused(
      `${name} is \`${text}\`; set it to an http or https address without query, such as https://agents.example.com.`,
    );
  }
  return text.replace(/\/+$/, '');
}
