export { SettingRefused } from './config/read-config.ts';
export { createKeyHere } from './create-key.ts';
export { serve } from './main.ts';
