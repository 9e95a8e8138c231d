#!/usr/bin/env node
import { createRunwire } from '@runwire/cli/init';
import packageJson from '../package.json' with { type: 'json' };

/* `npm create runwire FOLDER` is `runwire init FOLDER`, without an installation. */
await createRunwire(process.argv.slice(2), packageJson.version);
