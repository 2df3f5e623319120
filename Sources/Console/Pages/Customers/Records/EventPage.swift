import Features
import Ledger
import Proofs

/// The page of an event: what happened, the transaction that it is about, and its audit record in the hash chain.
struct EventPage {
    let context: ConsoleContext
    let user: User
    let event: RecordedEvent
    /// The transactions of the event's identifier that the user has.
    let transactions: [RecordedTransaction]
    let keys: [String: String]
    let names: CatalogNames

    private var entry: AuditEntry { event.record.entry }

    private var transaction: RecordedTransaction? {
        transactions.first { $0.transaction.isMeant(by: entry) } ?? transactions.first
    }

    var page: Page {
        let words = TimelineWords(entry: entry, transaction: transaction?.transaction, names: names)
        return Page(words.title, section: .customers) {
            CustomerCrumb(user: user).html
            section(.class("card")) {
                h2 { Phrase("What happened", "무슨 일이 있었나") }
                Facts.list(facts(words))
                if entry.event == .refused { RefusalNote(code: entry.reason, otherOwner: event.otherOwner).html }
            }
            if let transaction {
                section(.class("card")) {
                    h2 { Phrase("The transaction", "거래") }
                    TransactionFactList(user: user, recorded: transaction, keys: keys, names: names).html
                    p {
                        a(.href(transaction.path(of: user))) {
                            Phrase("All about this transaction", "이 거래의 모든 정보")
                        }
                    }
                }
            }
            section(.class("card")) {
                h2 { Phrase("Audit record", "감사 기록") }
                p {
                    event.isIntact
                        ? Shown.badge(Phrase("The chain is intact here", "체인이 올바름"), .good)
                        : Shown.badge(
                            Phrase("The record does not follow from the one before it", "앞 기록과 이어지지 않음"), .bad)
                }
                Facts.list(chain)
            }
        }
    }

    private func facts(_ words: TimelineWords) -> [(name: Phrase, value: HTML)] {
        [
            (Phrase("When", "시각"), Shown.moment(entry.happenedAt)),
            (Phrase("By", "누가"), ActorWords.html(entry.actor, keys)),
            (Phrase("Origin", "출처"), entry.origin.map { OriginWords.html($0) } ?? Shown.nothing),
            (Phrase("Reference", "참조"), Shown.identifier(entry.reference)),
            (Phrase("About", "대상"), Shown.identifier(entry.subject)),
            entry.event == .refused
                ? (Phrase("Refusal code", "거절 코드"), Shown.identifier(entry.reason))
                : (Phrase("Reason", "이유"), words.reason.map { reason in bdi { reason } } ?? Shown.nothing),
        ]
    }

    private var chain: [(name: Phrase, value: HTML)] {
        [
            (Phrase("Number", "번호"), plain(String(event.record.number))),
            (Phrase("Event", "사건"), Shown.identifier(entry.event.rawValue)),
            (Phrase("Actor", "행위자"), Shown.identifier(entry.actor.description)),
            (Phrase("Digest of the record before", "앞 기록의 다이제스트"), Shown.identifier(event.previousDigest.hexadecimal)),
            (
                Phrase("Digest of the reason", "이유의 다이제스트"),
                Shown.identifier(event.record.reasonDigest?.hexadecimal)
            ),
            (Phrase("Digest (SHA-256)", "다이제스트 (SHA-256)"), Shown.identifier(event.record.digest.hexadecimal)),
        ]
    }
}

/// A JSON value as a tree, with its dates in words.
enum ContentTree {
    /// - Returns: Nil for a text that is not JSON.
    static func html(ofJSON text: String) -> HTML? {
        (try? JSONParser.parse(Array(text.utf8))).map { html(of: $0, named: "") }
    }

    private static func html(of value: JSONValue, named name: String) -> HTML {
        switch value {
        case .object(let object):
            ul {
                for member in object.members {
                    li {
                        code { data(member.key) }
                        plain(": ")
                        html(of: member.value, named: member.key)
                    }
                }
            }
        case .array(let elements):
            ol { for element in elements { li { html(of: element, named: name) } } }
        case .string(let text): data(text)
        case .number(let number):
            HTML {
                plain(number.text)
                if name.hasSuffix("Date"), let milliseconds = Int64(number.text) {
                    plain(" · ")
                    Shown.moment(Timestamp(millisecondsSince1970: milliseconds))
                }
            }
        case .bool(let isTrue): plain(isTrue ? "true" : "false")
        case .null: plain("null")
        }
    }
}

/// The page of a notification about a customer's purchase.
struct NotificationPage {
    let user: User
    let recorded: RecordedNotification

    var page: Page {
        let notification = recorded.notification
        let title = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        return Page(Phrase("Notification: \(title)", "알림: \(title)"), section: .customers) {
            CustomerCrumb(user: user).html
            section(.class("card")) {
                h2 { Phrase("Recorded facts", "기록된 사실") }
                Facts.list([
                    (Phrase("Outcome", "결과"), notification.outcome.html),
                    (Phrase("Signed", "서명"), Shown.moment(notification.signedAt)),
                    (Phrase("Received", "수신"), Shown.moment(notification.receivedAt)),
                    (Phrase("Origin", "출처"), OriginWords.html(notification.origin)),
                    (Phrase("UUID", "UUID"), Shown.identifier(notification.notificationUUID)),
                    (Phrase("Transaction", "거래"), Shown.identifier(notification.transactionIdentifier)),
                    (
                        Phrase("Original transaction", "원 거래"),
                        Shown.identifier(notification.originalTransactionIdentifier)
                    ),
                    (
                        Phrase("Digest of the signed bytes (SHA-256)", "서명된 바이트의 다이제스트 (SHA-256)"),
                        Shown.identifier(recorded.proofDigest.hexadecimal)
                    ),
                ])
            }
            section(.class("card")) {
                h2 { Phrase("Content", "내용") }
                if let content = notification.content.flatMap({ ContentTree.html(ofJSON: $0) }) {
                    content
                } else {
                    p(.class("empty")) { Phrase("The content was not kept.", "내용을 보관하지 않았습니다.") }
                }
            }
        }
    }
}
