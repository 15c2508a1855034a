"""Words that say when: at once, at a time, over and over, or once something happens. Six languages.

A cue that is missing lets a call run that should wait, so each list leans to too many: what it takes for later is
asked about, and the person may answer `now`. What is plainly no cue ("if possible", "after all") is taken out first.
"""

from __future__ import annotations

import re

from preflight.model.checklist import WhenCase

_UNITS = r"(?:second|minute|hour|day|week|month|quarter|year)s?"
_SHORT = r"secs?|mins?|hrs?"
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNTS = r"\d+|(?:half )?an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a few|a couple of|several"
_SIGNS = r"is|are|has|have|gets?|falls?|drops?|rises?|reaches|exceeds?|arrives?|comes?|goes|clears?|changes?|becomes?"
_FEASTS = r"christmas(?: eve)?|new year(?:['’]?s)?(?: eve| day)?|easter|thanksgiving|halloween|valentine['’]?s(?: day)?"
_OWN_DAYS = r"(?:\w+['’]s|my|his|her|our|their|your) (?:birthday|anniversary|payday)"
_EVENTS = "receipt|approval|confirmation|consent|agreement|delivery|arrival"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_SEASONS = "spring|summer|autumn|fall|winter"
_PARTS = r"morning|afternoon|evening|night"
_ENDS = r"(?:the |this |next )?(?:day|week|month|quarter|year|business)"

CUES: dict[WhenCase, tuple[str, ...]] = {
    "recurring": (
        rf"\b(?:every|each) (?:other )?(?:\w+ )?(?:{_UNITS}|{_DAYS}|morning|evening|night|weekday|weekend|time)\b",
        r"\b(?:daily|hourly|weekly|fortnightly|monthly|quarterly|yearly|annually)\b",
        rf"\b(?:once|twice|times|\d+x?) (?:an?|per) {_UNITS}\b|\bper {_UNITS} until\b",
        rf"\bon (?:{_DAYS}s|weekdays|weekends)\b|\b(?:biweekly|bi-weekly|nightly|regularly|repeatedly)\b",
        rf"\b(?:every|each) (?:\d+(?:st|nd|rd|th)?|{_FEASTS})\b",
        r"\b(?:monatlich|wöchentlich|jährlich|mensuellement|hebdomadaire|mensualmente|semanalmente|anualmente)\b",
        r"\balle (?:\w+ )?(?:tage|wochen|monate|jahre)\b|\bpar (?:jour|semaine|mois|an)\b|\bpor (?:día|semana|mes)\b",
        r"격주|매년|마다|毎年|隔週|月に|週に|ごとに",
        r"매일|날마다|매주|매월|매달|매시간|평일마다|毎日|毎週|毎月|毎時間|毎平日",
        r"\bcada \w+\b|\bdiariamente\b|\btodos los \w+\b",
        r"\blos (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)\b",
        r"\bjede[nrs]? \w+\b|\b(?:täglich|stündlich|werktags)\b",
        r"\bchaque \w+\b|\btous les \w+\b",
    ),
    "conditional": (
        r"\b(?:if|when|whenever|as soon as(?! possible)|in case|provided|assuming|unless|as long as|on condition)\b",
        rf"\b(?:(?:up)?on|after|following|pending) (?:(?:the|his|her|their|\w+['’]s?) )?(?:{_EVENTS})\b|\bsubject to\b",
        r"\bpending\b|\bthe (?:moment|minute|second|day) (?:\w+ ){1,3}(?!ago)\w+s\b|\bgiven that\b|\bin the event\b",
        r"\bcontingent\b|\bdepending on\b|\b(?:let me|i(?:['’]ll| will)) (?:first )?check\b|\bbut first\b",
        r"\bafter (?!\d|(?:all|tax|that|this|which|another|you|one|two|an?)\b)(?:\w+ ){1,3}?\w+(?:s|ed)\b",
        r"\bnach (?:eingang|erhalt|zustimmung|freigabe|genehmigung|bestätigung)\b|\berst (?:nach|wenn)\b|\bsollte \w+",
        r"\b(?:siempre que|a menos que|tras|al (?:recibir|llegar|confirmar))\b",
        r"\bà réception\b|\b(?:à moins que|pourvu que)\b",
        r"場合|とき|(?<![0-9０-９])時に|てから|でから",
        r"(?<!at )(?<!just )(?<!only )\bonce (?!more\b|again\b|an? |to\b|for\b|and\b|in\b|per\b|every\b)\w",
        rf"(?:^|[.,;:!?] )should \w+ \w+|\bshould (?:he|she|they|the) \w+|\buntil (?:\S+ ){{1,6}}(?:{_SIGNS})\b",
        r"\b(?:not|\w+n['’]t|never) (?:\S+ ){0,6}(?:until|till)\b",
        r"\b(?:wenn|falls|sobald|sofern|nachdem)\b|\b(?:si|cuando|en cuanto|una vez que|después de que)\b",
        r"\b(?:s['’]il|quand|lorsque|dès que|après que|une fois que|à condition)\b",
        r"[가-힣](?<![화냉장표측반전])면(?![가-힣])|거든|[는을할될올갈] 때(?!까지)",
        r"たら|(?<!例)えば|[けせてねべめれげ]ば|なら|次第",
    ),
    "scheduled": (
        r"\b(?:schedule|postpone|delay|tomorrow|tonight|later|eventually|someday|some day|at some point)\b",
        rf"\bin (?!(?:the )?(?:last|past|total|same)\b)(?:[\w.,-]+ ){{1,6}}?(?:{_UNITS}|{_SHORT}|bit|while|moment)\b",
        rf"\bin \d+\s?(?:[hmd]|{_SHORT})\b|\+\s?\d+\s?(?:[hmd]|{_SHORT})\b",
        rf"\b(?:{_COUNTS}) (?:{_UNITS}|{_SHORT}) before\b",
        r"\bin \w+ (?:sekunden?|minuten?|stunden?|tag(?:en)?|wochen?|monat(?:en)?)\b",
        r"\bdans \w+ (?:secondes?|minutes?|heures?|jours?|semaines?|mois)\b",
        r"\b(?:en|dentro de) \w+ (?:segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?)\b",
        r"(?:秒|分|時間|日|週間|か月|ヶ月)後|(?:초|분|시간|일|주|주일|개월|달)\s?(?:후|뒤)",
        rf"\b(?:{_COUNTS}) (?:{_UNITS}|{_SHORT}) from (?:now|today)\b|\bafter (?:{_COUNTS}) (?:{_UNITS}|{_SHORT})\b",
        rf"\b(?:next|this coming) (?:{_UNITS}|{_DAYS})\b|(?<!for )(?<!from )(?<!since )\bon (?:{_DAYS})\b",
        rf"\b(?:this (?:afternoon|evening|night)|in the (?:{_PARTS})|at night)\b|\bovernight\b(?! \w)",
        rf"(?<!by )(?<!by the )(?<!before )(?<!until )\b(?:eod|eom|cob|end of {_ENDS}|(?:month|year|quarter)[ -]end)\b",
        rf"\b(?:at|on|over|during) (?:the |this )?(?:week-?end|{_FEASTS}|{_OWN_DAYS})\b",
        r"\bon the (?:\d{1,2}(?:st|nd|rd|th)|first|last)\b(?! (?:floor|page|line|list|row|street|avenue|invoice)\b)",
        rf"\b(?:in|next|this|by early|in early|in late) (?:{_MONTHS})\b",
        rf"\bin the new year\b|\b(?:next|this) (?:{_SEASONS})\b",
        r"\bat (?:dawn|dusk|sunset|sunrise|lunch(?:time)?|dinner(?:time)?|breakfast|bedtime)\b",
        r"\bbefore (?:bed|lunch|dinner)\b",
        r"\b(?:at|à) (?:[01]?\d|2[0-3])(?:\.[0-5]\d|ish)\b",
        r"\bat (?:[01]\d|2[0-3])[0-5]\d\b(?! ?(?:usd|eur|won|dollars|euros|each))",
        r"\bà \d{1,2} ?h(?:\d\d)?\b|\b(?:sometime|some time)\b",
        r"\bam abend\b|\b(?:mittags|abends|bald|demnächst|irgendwann)\b",
        r"\b(?:bientôt|pronto)\b|あした|あさって|(?:朝|昼|夜)に",
        r"\bafter (?!all\b|tax|that\b|this\b|which\b|another\b|you\b)\w",
        r"\bnot (?:now|yet|today)\b|\bhold (?:off|on)\b",
        r"\bwait (?:until|till|for|an? (?:bit|moment|while|minute|hour|day|week))\b",
        r"내일|모레|나중에|이따|다음\s?(?:주|달|번)|내년|주말에|월말에|연말에|(?:아침|저녁|밤|오후|오전|후|뒤)에|아직",
        r"明日|明後日|後で|あとで|来週|来月|来年|今夜|今晩|夕方|週末|月末|明朝|まだ",
        r"\bmañana\b|\bmás tarde\b|\bluego\b|\bdespués\b|\bpróxim[oa]\b|\bque viene\b|\besta (?:noche|tarde)\b",
        r"\b(?:todavía|ahora) no\b|\bfin de (?:semana|mes|año)\b",
        r"\bmorgen\b|\bübermorgen\b|\bspäter\b|\bnachher\b|\bnächste[nrs]?\b|\bheute (?:abend|nacht|nachmittag)\b",
        r"\bam wochenende\b|\b(?:nicht jetzt|noch nicht)\b|\b(?:ende|monatsende|jahresende) (?:des|dieses|der)\b",
        r"\bdemain\b|\baprès-demain\b|\bplus tard\b|\bprochaine?\b|\bce (?:soir|week-end)\b|\bcet après-midi\b",
        r"\bpas (?:encore|maintenant)\b|\bfin du mois\b",
    ),
    "immediate": (
        r"(?<!not )(?<!from )(?<!until )(?<!till )(?<!by )(?<!just )(?<!for )\bnow\b",
        r"\b(?:right away|immediately|at once|straight away|asap|as soon as possible)\b",
        r"지금|바로|今すぐ|\bahora\b(?! no)|\bsofort\b|(?<!pas )\bmaintenant\b",
    ),
}  # fmt: skip

OF_A_THING = re.compile(
    r"(?<!hour )(?<!hours )(?<!minutes )(?<!day )(?<!days )(?<!week )(?<!weeks )"
    rf"\b(?:for|from|since|until|till|by|before|between|to) (?:tomorrow|tonight|next \w+|{_DAYS}|on {_DAYS})\b"
)
"""A time that belongs to a thing ("the meeting on Friday", "for tomorrow") is not a time to act."""

NO_CUE = re.compile(
    r"\b(?:if|when|where|whenever) (?:needed|necessary|possible|applicable|appropriate|required|convenient|available)"
    r"(?= ?(?:[,.;:!?)]|$|and\b|then\b))"
    r"|\b(?:if|when|whenever) (?:you|u) (?:can|could|may|have (?:time|a (?:moment|minute))|get (?:a chance|time)"
    r"|are able(?: to)?|want|like|don['’]t mind|please|would)(?= ?(?:[,.;:!?)]|$))"
    r"|\bif (?:that|it|this)(?:['’]s| is) (?:ok|okay|fine|alright|all right|possible)\b(?! (?:with|for|by)\b)"
    r"|\b(?:even|as|what) if\b|\b(?:know|wonder|wondering|unsure|not sure|find out) (?:if|when)\b"
    r"|\bask(?:s|ed|ing)? (?:\S+ ){0,4}if\b|\b(?:appreciate it|grateful|great|nice|glad|good) if (?:you|we)\b"
    r"|\bsi (?:es posible|possible|puedes|puede|c['’]est possible|tu peux|vous pouvez)\b"
    r"|\bs['’]il (?:te|vous) pla[iî]t\b|\b(?:wenn|falls) (?:möglich|nötig|du kannst|sie können)\b"
    r"|(?:^|[.!?]) ?when (?:is|are|was|were|do|does|did|will|would|should|can|could|have|has)\b"
    r"|\b(?:look(?:s|ed|ing)?|named|one|day) after\b"
)
"""Wording that looks like a cue and is none. Taken out before the cues are looked for."""
