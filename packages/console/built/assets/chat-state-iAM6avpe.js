<<<<<<<< HEAD:packages/console/built/assets/chat-state-iAM6avpe.js
import{J as e}from"./libraries-CgYIfE-G.js";import{J as t}from"./shared-DDAk2eKe.js";var n=({title:e,aliasChatId:t,chatId:n})=>e?.trim()||t||n,r=e(),i=({status:e,pending:n})=>(0,r.jsx)(t,{status:n.length>0?`waiting`:e});export{n,i as t};
========
import{J as e}from"./libraries-CgYIfE-G.js";import{J as t}from"./shared-DcLKVIJa.js";var n=({title:e,aliasChatId:t,chatId:n})=>e?.trim()||t||n,r=e(),i=({status:e,pending:n})=>(0,r.jsx)(t,{status:n.length>0?`waiting`:e});export{n,i as t};
>>>>>>>> money:packages/console/built/assets/chat-state-DSWv3GjS.js
