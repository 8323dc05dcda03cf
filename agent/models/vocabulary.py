# ruff: noqa: RUF001 - letters of other scripts are meant as they stand
"""Words and phrases, by language, that the offline model knows; data only.

English, German, French, Spanish, Portuguese, Italian, Russian, Arabic, Chinese, Japanese, Korean.
A text in another language is stored all the same; it only gets the default type.
"""


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# say who speaks or that this is to be kept, nothing about the fact
SILENT = _words("a an the is are be do does to of that this it its i my user please remember")

# A text with one more of these than another may say the opposite, take it back, or bind it to a condition.
TURNING = _words(
    "no not never none nor neither nothing nobody cannot without hardly rarely seldom barely avoid stop",
    "stopped forget forgot delete remove erase drop ignore disregard wrong false untrue longer anymore",
    "instead was were used quit dont doesnt didnt isnt arent cant wont if",
    "when unless only except but until rather formerly",
    "nicht kein keine keinen keinem keiner nie niemals ohne mehr vergiss lösche entferne falsch nur außer",
    "aber sondern wenn falls statt war",
    "ne pas jamais sans plus non aucun aucune rien oublie supprime faux seulement sauf mais si quand était",
    "nunca jamás sin nada olvida olvide borra elimina falso solo sólo salvo pero cuando era",
    "não nem sem nada esqueça esquece apague apaga remova falso apenas só exceto mas se quando",
    "mai senza niente nessun nessuno dimentica cancella elimina rimuovi falso soltanto tranne ma quando",
    "не нет ни никогда без забудь забудьте удали удалите неверно только кроме но если когда раньше",
    "لا لم لن ليس ليست ما بدون غير ولا انس احذف فقط إلا لكن إذا عندما كان",
    "안 못 아니 아니라 말고 잊어 삭제해 만 하지만",
)
# the same where words are not apart, or where it is part of a word
TURNING_PARTS = (
    *("不", "没", "沒", "无", "無", "别", "別", "勿", "未", "非", "忘", "删", "刪", "除", "只", "但"),
    *(
        "ない",
        "ません",
        "なかった",
        "ず",
        "だけ",
        "しか",
        "消し",
        "않",
        "없",
        "못",
        "지 마",
        "지마",
        "잊",
        "삭제",
        "ไม่",
        "อย่า",
    ),
)

# A text that goes on with one of these may hold for fewer cases than the same text without.
NARROWING = _words(
    "in on at for during within inside outside under among between while where before after as",
    "im in am an bei beim für während innerhalb außerhalb unter vor nach wo als",
    "dans sur pour pendant chez avant après où comme",
    "en para durante antes después donde como",
    "em na nos nas para durante antes depois onde como",
    "nel nella nei nelle per durante prima dopo dove su come",
    "в во на для при до после где как",
    "في عند أثناء خلال قبل بعد",
)

# a file name does not end in one of these
STOP_WORDS = _words(
    "a an the and or but nor of to in on at by for from with without as is are was were be been am do does",
    "did i my me we our you your he she it its they their this that these those if when than then so not no",
    "der die das den dem des ein eine einen einem und oder von zu im in am an auf mit für ist sind ich mein",
    "le la les un une des du de et ou à au aux en dans sur pour avec est je mon que qui",
    "el los las una y o del al con por para es yo mi mis en",
    "os as um uma e do da dos das no na em com é eu meu minha",
    "il lo gli i uno di da nel nella con per tra fra è io mio che",
    "и или в во на с со к по из за для от у о об я мой что",
)

# say when, as seen from the day of writing: a date takes their place
RELATIVE = _words(
    "yesterday today tomorrow tonight now currently recently ago last next",
    "gestern heute morgen jetzt derzeit kürzlich neulich letzten letzte nächsten nächste",
    "hier aujourd'hui demain maintenant récemment dernier dernière prochain prochaine",
    "ayer hoy mañana ahora pasado pasada próximo próxima ontem hoje amanhã agora passado próximo",
    "ieri oggi domani adesso scorso scorsa prossimo prossima вчера сегодня завтра сейчас",
)

_ARTICLE = r"(?:(?:this|the following|it)\b\s*)?"
_TAKES_THAT = r"(?:[,:]|that\b\s*:?|[-\u2013\u2014]\s)"
# a request around a fact; each must be followed by the fact
REQUESTS = (
    r"(?:please|pls|kindly)\b[,!]?\s+",
    r"(?:(?:can|could|would|will) you\s+)?(?:please\s+)?(?:also\s+)?"
    r"(?:remember|note|save|store|memori[sz]e|record|write down|keep in mind|make a note|take note"
    r"|don'?t forget)"
    rf"\s*(?:{_ARTICLE}{_TAKES_THAT}|(?:this|the following)\s*\n)\s*",
    r"remember\s+(?=(?:I|I'\w+|my|we|our)\s)",
    r"bitte\b,?\s+",
    r"(?:merke?|notiere?|speichere?|denke?|behalte)(?:\s+(?:dir|mir|daran|sie sich))?(?:\s+bitte)?"
    r"\s*(?:,?\s*dass\b|:)\s*",
    r"(?:s'il (?:te|vous) pla[iî]t|svp)\b,?\s+",
    r"(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|notez?|enregistrez?|mémorisez?"
    r"|n'oubliez? pas)\s*(?:que\b|qu'|:)\s*",
    r"por favor\b,?\s+",
    r"(?:recuerd[ae]|anot[ae]|apunta|guard[ae]|ten en cuenta|no olvides)\s*(?:que\b|:)\s*",
    r"(?:lembr[ae](?:-se|-te)?|anot[ae]|guard[ae]|memorize|não (?:se )?esqueça)\s*(?:(?:de\s+)?que\b|:)\s*",
    r"(?:per favore|per cortesia)\b,?\s+",
    r"(?:ricord[ai](?:ti)?|annota|nota|salva|memorizza|tieni presente)\s*(?:che\b|:)\s*",
    r"пожалуйста\b,?\s+",
    r"(?:запомни|запиши|сохрани|помни|учти)(?:те)?(?:,\s*пожалуйста)?\s*(?:,\s*что\b|:)\s*",
    r"(?:من فضلك|رجاء|رجاءً)[،,]?\s+",
    r"(?:تذكر|تذكّر|احفظ|سجل|لاحظ)(?:\s*:\s*|\s+(?:أن|ان)\s+|\s+(?=أن))",
    r"(?:请|請)(?!问|問|假)\s*(?:你)?",
    r"(?:帮我|幫我)?(?:记住|記住|记下|記下)(?:一下)?[:：,，\s]*",
    r"(?:记得|記得|保存|注意|备注|備註)[:：]\s*",
    r"(?:覚えて(?:おいて)?(?:ください|ね)?|メモ(?:して)?(?:ください)?|記憶して(?:ください)?)[:：、,]\s*",
    r"(?:기억해|메모해|저장해)\s?(?:줘|주세요)?[:,：]\s*",
)

# what a request to forget begins with, before it says what
FORGETTING = (
    r"(?:(?:please|pls|kindly)\b,?\s+)?(?:(?:can|could|would|will) you\s+)?(?:please\s+)?"
    r"(?:forget|delete|remove|erase|drop)\b"
    r"(?:\s+(?:about|that|the fact that|(?:everything|anything|all|what you know)(?:\s+about)?)\b)*\s*:?\s*",
    r"(?:bitte\s+)?(?:vergiss|vergesst|lösche?|entferne)\b(?:,?\s+(?:bitte|alles|über|dass)\b)*\s*:?\s*",
    r"(?:oublie[sz]?|supprime[sz]?|efface[sz]?)\b(?:\s+(?:tout|sur|que)\b)*\s*:?\s*",
    r"(?:por favor,?\s+)?(?:olvid[ae]|borra|elimina)\b(?:\s+(?:todo|sobre|que|lo)\b)*\s*:?\s*",
    r"(?:por favor,?\s+)?(?:esquece|esqueça|apaga|apague|remov[ae])\b(?:\s+(?:tudo|sobre|que)\b)*\s*:?\s*",
    r"(?:dimentica|cancella|elimina|rimuovi)\b(?:\s+(?:tutto|su|che)\b)*\s*:?\s*",
    r"(?:забудь|удали)(?:те)?\b(?:,?\s+(?:что|про|обо|всё|все)\b)*\s*:?\s*",
    r"(?:请|請)?(?:你)?(?:忘记|忘記|忘掉|删除|刪除|删掉|刪掉)(?:关于|關於)?[:：,，\s]*",
)

# before a full stop that ends no sentence, beside single letters and numbers
ABBREVIATIONS = _words(
    "e.g i.e eg ie etc vs cf mr mrs ms dr prof st no nr ca approx resp incl bzw usw ggf evtl vgl bspw inkl",
    "z.b d.h u.a o.ä m.e p.ej p.ex ej ex sr sra т.е т.д т.п т.к др см",
)

# rules for the one who works: how they begin
RULES_AT_THE_START = (
    r"(?:always|never|do not|don'?t|stop|avoid|make sure|ensure|prefer|respond|explain|follow|include|"
    r"exclude|"
    r"(?:use|write|keep|reply|make|put|run|ask|add)\b(?!\s*(?::|(?:of|is|was|are|has|cases?|access|times?)\b)))\b",
    r"(?:verwende|benutze|nutze|schreibe?|vermeide|niemals|nie|immer(?! wenn)|achte|halte|"
    r"antworte|keine?n?)\b",
    r"(?:utilise[rz]?|écri[st]|écrivez|évite[rz]?|toujours|jamais|ne|n'utilise[rz]?|réponds|répondez)\b",
    r"(?:(?-i:[Uu]sa)|utiliza|utilice|evit[ae]|siempre|nunca|no uses|no utilices|responde|escrib[ae])\b",
    r"(?:utilize|sempre|não use|não utilize|responda|escreva)\b",
    r"(?:utilizza|non usare|non utilizzare|rispondi|scrivi)\b",
    r"(?:всегда|никогда|используй(?:те)?|избегай(?:те)?|не используй(?:те)?|пиши(?:те)?|отвечай(?:те)?)\b",
    r"(?:استخدم|تجنب|لا تستخدم|دائما|دائمًا|أبدا|اكتب)\b",
    r"(?:总是|總是|始终|始終|一律|不要|别(?!人|的)|使用|用|避免|必须|必須|务必|務必|禁止|永远不|永遠不|回答)",
    r"(?:必ず|常に|決して|絶対に)",
    r"(?:항상|절대|반드시)\s",
)
RULES_ANYWHERE = (
    r"\b(?:from now on|you (?:should|must|need to)|remember to|when(?:ever)? you)\b",
    r"[.;:]\s+(?:always|never|don'?t|do not)\b",
    r"(?:てください|でください|ないこと|すること)[。.!]?\s*$",
    r"(?:하세요|마세요|해줘|하지 마|해 주세요|써줘)[.!]?\s*$",
)

FIRST_PERSON = (
    r"(?<![\w./])(?<!\bfor )i(?=\s+[^\W\d]|['\u2019](?:m|ve|d|ll)\b)",
    r"\b(?:my|mine|myself|me)\b",
    r"\b(?:the user|user'?s)\b",
    r"\b(?:ich|mein|meine[rmns]?|mir|mich)\b",
    r"\b(?:je|moi|(?-i:mon)|mes)\b|^mon\s|\b(?:j|m)['\u2019](?=[^\W\d]{2})",
    r"\b(?:yo|(?-i:[Mm]is?)|prefiero)\b|^soy\s(?!milk|sauce|bean)",
    r"\b(?:(?-i:[Ee]u)|meus?|minhas?|prefiro|sou)\b",
    r"\bio\s+(?=(?:non\s+)?\w+o\b)|\b(?:(?-i:mi[oa])|miei|preferisco)\b",
    r"\b(?:я|мой|моя|моё|мое|мои|моего|моей|мне|меня|мной)\b",
    r"\b(?:أنا|أنني|إنني|اسمي)\b",
    r"我(?!们|們|方|国|國)|本人",
    r"私(?!たち|達|立|有)|僕(?!ら|たち)|俺(?!たち)|わたし(?!たち)|自分",
    r"(?:^|\s)(?:나는|나도|나의|난|내|내가|저는|저도|제|제가|저의)(?=\s)",
)
TASTE = (
    r"\b(?:user|he|she) (?:is|has|likes|wants|works|knows|uses|lives|speaks)\b",
    r"\b(?:prefers|likes|loves|hates|dislikes|enjoys|favou?rite)\b",
    r"^(?:i\s+)?(?:like|love|hate|dislike|enjoy)\b",
    r"\b(?:bevorzug\w+|mag|liebe|hasse|lieblings\w+)\b",
    r"\b(?:préfère|aime|adore|déteste|préférée?)\b",
    r"\b(?:gusta|encanta|odio|favorit[oa])\b",
    r"\b(?:gosto|adoro|detesto)\b",
    r"\b(?:piace|piacciono|adoro)\b",
    r"\b(?:предпочитаю|люблю|нравится|нравятся|ненавижу|предпочитает|любит)\b",
    r"\b(?:أحب|أفضل|أفضّل|أكره|يحب|يفضل)\b",
    r"喜欢|喜歡|偏好|偏爱|偏愛|讨厌|討厭",
    r"好き|好み|嫌い|好む",
    r"좋아|선호|싫어",
)
EVERYONE = (
    r"\b(?:everyone|everybody|all (?:contributors|developers|engineers)|contributors?|the team|our|we|us|"
    r"this (?:repo|repository|project|codebase))\b",
    r"\b(?:wir|unser|unsere[rmns]?|nous|notre|nos|nosotros|nuestr[oa]s?|nós|noss[oa]s?|noi|nostr[oaei])\b",
    r"\b(?:мы|наш|наша|наше|наши|нас|نحن|فريقنا)\b",
    r"我们|我們|咱们|大家|团队|團隊|私たち|私達|我々|弊社|チーム|우리|저희",
)
PLACES = (
    r"\b(?:tracked in|documented (?:in|at)|lives (?:in|at)|can be found|(?:is|are) found (?:in|at))\b",
    r"^(?:(?:the|our|my|all|see)\s+)?(?:[\w-]+\s+)?"
    r"(?:dashboards?|runbooks?|wiki|slack channel|issue tracker)\b",
    r"\b(?:in|on|at) (?:the|our|my) (?:[\w-]+\s+){0,2}"
    r"(?:dashboard|runbook|wiki|slack channel|issue tracker)\b",
    r"(?:^|\s)#[a-z][\w-]+",
    r"\b(?:siehe|zu finden (?:in|auf|unter)|se trouvent? (?:dans|sur|à)|se encuentra en)\b",
    r"\b(?:si trova (?:in|su)|находится в)\b",
    r"(?:在|见|見).{1,40}(?:看板|维基|文档|文檔)|にあります|에 있습니다",
)
