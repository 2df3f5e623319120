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
                h2 { "What happened" }
                Facts.list(facts(words))
                if entry.event == .refused { RefusalNote(code: entry.reason, otherOwner: event.otherOwner).html }
            }
            if let transaction {
                section(.class("card")) {
                    h2 { "The transaction" }
                    TransactionFactList(user: user, recorded: transaction, keys: keys, names: names).html
                    p { a(.href(transaction.path(of: user))) { "All about this transaction" } }
                }
            }
            section(.class("card")) {
                h2 { "Audit record" }
                p {
                    event.isIntact
                        ? Shown.badge("The chain is intact here", .good)
                        : Shown.badge(
                            "The record does not follow from the one before it", .bad)
                }
                Facts.list(chain)
            }
        }
    }

    private func facts(_ words: TimelineWords) -> [(name: Phrase, value: HTML)] {
        [
            ("When", Shown.moment(entry.happenedAt)),
            (Phrase("By", context: "event"), ActorWords.html(entry.actor, keys)),
            ("Origin", entry.origin.map { OriginWords.html($0) } ?? Shown.nothing),
            ("Reference", Shown.identifier(entry.reference)),
            ("About", Shown.identifier(entry.subject)),
            entry.event == .refused
                ? ("Refusal code", Shown.identifier(entry.reason))
                : ("Reason", words.reason.map { reason in bdi { reason } } ?? Shown.nothing),
        ]
    }

    private var chain: [(name: Phrase, value: HTML)] {
        [
            ("Number", plain(String(event.record.number))),
            ("Event", Shown.identifier(entry.event.rawValue)),
            ("Actor", Shown.identifier(entry.actor.description)),
            ("Digest of the record before", Shown.identifier(event.previousDigest.hexadecimal)),
            ("Digest of the reason", Shown.identifier(event.record.reasonDigest?.hexadecimal)),
            ("Digest (SHA-256)", Shown.identifier(event.record.digest.hexadecimal)),
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
        return Page("Notification: \(title)", section: .customers) {
            CustomerCrumb(user: user).html
            section(.class("card")) {
                h2 { "Recorded facts" }
                Facts.list([
                    ("Outcome", notification.outcome.html),
                    ("Signed", Shown.moment(notification.signedAt)),
                    ("Received", Shown.moment(notification.receivedAt)),
                    ("Origin", OriginWords.html(notification.origin)),
                    ("UUID", Shown.identifier(notification.notificationUUID)),
                    ("Transaction", Shown.identifier(notification.transactionIdentifier)),
                    ("Original transaction", Shown.identifier(notification.originalTransactionIdentifier)),
                    ("Digest of the signed bytes (SHA-256)", Shown.identifier(recorded.proofDigest.hexadecimal)),
                ])
            }
            section(.class("card")) {
                h2 { "Content" }
                if let content = notification.content.flatMap({ ContentTree.html(ofJSON: $0) }) {
                    content
                } else {
                    p(.class("empty")) { "The content was not kept." }
                }
            }
        }
    }
}
