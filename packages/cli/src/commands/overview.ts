import type { Overview } from '@runwire/client';
import type { CliCommand, Context } from '../command.ts';
import { connect, type ServerOptions } from '../connection.ts';
import { costText, type Fields, print, printFields, printJson } from '../output.ts';

interface OverviewOptions extends ServerOptions {
  readonly integration?: string;
  readonly hours?: number;
  readonly json?: true;
}
