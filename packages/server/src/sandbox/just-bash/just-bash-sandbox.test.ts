import { sandboxConformance } from '@runwire/test-kit/sandbox-conformance.ts';
import { JustBashSandbox } from './just-bash-sandbox.ts';

sandboxConformance('just-bash', () => new JustBashSandbox(), null);
