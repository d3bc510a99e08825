"""How the system writes an error: the messages of shells and of the C library in other languages than English, and native
programs that end themselves. `errors` has the English messages of shells."""

_SEGFAULT = "段错误|段錯誤|記憶體區段錯誤|Speicherzugriffsfehler|Erreur de segmentation|Violación de segmento|Errore di segmentazione|Falha de segmentação|Ошибка сегментирования|セグメンテーション違反"
_DUMPED = "核心已转储|核心已傾印|Speicherabzug geschrieben|core dumped|コアダンプ"
_KILLED = "已杀死|已殺死|已砍掉|Getötet|Processus arrêté|Terminado \\(killed\\)|Ucciso|Morto|Убито|強制終了"
NO_COMMAND = "未找到命令|找不到命令|Befehl nicht gefunden\\.?|Kommando nicht gefunden\\.?|commande introuvable|orden no encontrada|comando non trovato|comando não encontrado|команда не найдена|コマンドが見つかりません"
NO_FILE = "没有那个文件或目录|沒有此一檔案或目錄|Datei oder Verzeichnis nicht gefunden|Aucun fichier ou dossier de ce (?:type|nom)|No existe el (?:archivo|fichero) o el directorio|File o directory non esistente|Arquivo ou diretório (?:não encontrado|inexistente)|Нет такого файла или каталога|そのようなファイルやディレクトリはありません"
DENIED = "权限不够|拒絕不符權限的操作|Keine Berechtigung|Permission non accordée|Permiso denegado|Permesso negato|Permissão negada|Отказано в доступе|許可がありません"
_FULL = "设备上没有空间|裝置上已無多餘空間|Auf dem Gerät ist kein Speicherplatz mehr verfügbar|Aucun espace disponible sur le périphérique|No queda espacio en el dispositivo|Spazio esaurito sul device|Não há espaço disponível no dispositivo|На устройстве не осталось свободного места|デバイスに空き領域がありません"
_NO_MEMORY = "无法分配内存|無法配置記憶體|Nicht genügend Hauptspeicher verfügbar|Impossible d'allouer de la mémoire|No se pudo asignar memoria|Невозможно выделить память|メモリを確保できません"
_TRY_LATER = "资源暂时不可用|資源暫時無法取得|Die Ressource ist zur Zeit nicht verfügbar|Ressource temporairement non disponible|Recurso no disponible temporalmente|Ресурс временно недоступен|リソースが一時的に利用できません"

SYSTEM_ERRORS = (
    rf"^(?:{_SEGFAULT})|\((?:{_DUMPED})\)|\b\d{{2,8}}\s{{1,4}}(?:{_KILLED})(?:\s|$)|^(?:{_KILLED})\s*$",
    rf"[:：] ?(?:{NO_COMMAND}|{NO_FILE}|{DENIED}|{_FULL}|{_NO_MEMORY}|{_TRY_LATER})\s*$",
    r"^(?:[\w./+-]{1,200}:(?:\d{1,7}:)? ?)?[^\n]{0,200}\bAssertion [`'][^\n]{1,200}[`'] failed\.?\s*$",
    r"\bnoticed that process rank \d|\bpthread_create failed\b|\bexited on signal \d{1,2}\b|^Uncaught exception\b|^Exception in thread \S|\bterminating due to uncaught exception\b",
    r"^(?:CUDA|HIP) driver error: |^(?:\W{0,8})?(?:cuda|hip)Error(?!Success|NotReady)[A-Z]\w{3,60}(?::|\s*$)|^(?:thrust|std|boost|c10)::(?:\w{1,40}::){0,3}\w{0,40}(?:error|exception): ",
    r"\b(?:Illegal instruction|Floating point exception|Trace/(?:BPT|breakpoint) trap)(?:: \d{1,2})?(?: \(core dumped\))?\s*$|^zsh: (?:segmentation fault|bus error|illegal hardware instruction|floating point exception|trace trap) |^\[\d{1,3}\] {0,3}[+-]? {1,10}(?:Killed|Segmentation fault|Bus error|Aborted) ",
    r"^(?:=>> )?PBS: job killed: |^TERM_[A-Z_]{3,30}: \S|^Job \S{1,80} has exceeded its \S",
)
