import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

extension CustomerView {
    /// The page of an event: what happened, the transaction that it is about, and its audit record in the hash chain.
    func eventPage() async throws -> Page {
        guard let number = Int64(try context.parameters.text("number")),
            let event = try await entitlements.ledger.read(.snapshot, { try $0.recordedEvent(number, of: self.user) })
        else { throw Problem.pathUnknown }
        let (record, entry) = (event.record, event.record.entry)
        // The transactions of the event's identifier that the user has.
        var transactions: [RecordedTransaction] = []
        if let origin = entry.origin {
            transactions = try await entitlements.ledger.read {
                try $0.recordedTransactions(entry.reference, of: self.user)
            }.filter { $0.transaction.origin == origin }
        }
        let transaction = transactions.first { $0.transaction.isMeant(by: entry) } ?? transactions.first
        let words = TimelineWords(entry: entry, transaction: transaction?.transaction, names: names)
        return Page(words.title, section: .customers) {
            Shown.wayBack(to: user)
            card("What happened") {
                Facts.list {
                    fact("When") { Shown.moment(entry.happenedAt) }
                    fact(Phrase("By", context: "event")) { ActorWords.html(entry.actor, keys) }
                    fact("Origin") { entry.origin.map { OriginWords.html($0) } }
                    fact("Reference") { Shown.identifier(entry.reference) }
                    fact("About") { Shown.identifier(entry.subject) }
                    if entry.event == .refused {
                        fact("Refusal code") { Shown.identifier(entry.reason) }
                    } else {
                        fact("Reason") { words.reason.map { reason in bdi { reason } } }
                    }
                }
                if entry.event == .refused { refusalNote(entry.reason, event.otherOwner) }
            }
            if let transaction {
                card("The transaction") {
                    facts(of: transaction)
                    p { a(.href(transaction.transaction.path(of: user))) { "All about this transaction" } }
                }
            }
            card("Audit record") {
                p {
                    event.isIntact
                        ? Shown.badge("The chain is intact here", .good)
                        : Shown.badge("The record does not follow from the one before it", .bad)
                }
                Facts.list {
                    fact("Number") { plain(String(record.number)) }
                    fact("Event") { Shown.identifier(entry.event.rawValue) }
                    fact("Actor") { Shown.identifier(entry.actor.description) }
                    fact("Digest of the record before") { Shown.identifier(event.previousDigest.hexadecimal) }
                    fact("Digest of the reason") { Shown.identifier(record.reasonDigest?.hexadecimal) }
                    fact("Digest (SHA-256)") { Shown.identifier(record.digest.hexadecimal) }
                }
            }
        }
    }

    func notificationPage(_ request: Request) async throws -> Page {
        let identifier = try context.parameters.text("notification")
        let origin = try request.recordedOrigin() ?? .appleProduction
        let recorded = try await entitlements.ledger.read {
            try $0.recordedNotification(identifier, from: origin, of: self.user)
        }
        guard let notification = recorded else { throw Problem.pathUnknown }
        return Page("Notification: \(notification.title)", section: .customers) {
            Shown.wayBack(to: user)
            Facts.card("Recorded facts") {
                fact("Outcome") { notification.outcome.badge }
                fact("Signed") { Shown.moment(notification.signedAt) }
                fact("Received") { Shown.moment(notification.receivedAt) }
                fact("Origin") { OriginWords.html(notification.origin) }
                fact("UUID") { Shown.identifier(notification.notificationUUID) }
                fact("Transaction") { Shown.identifier(notification.transactionIdentifier) }
                fact("Original transaction") { Shown.identifier(notification.originalTransactionIdentifier) }
                fact("Digest of the signed bytes (SHA-256)") { Shown.identifier(notification.proofDigest.hexadecimal) }
            }
            ContentTree.card(of: notification)
        }
    }
}

/// A JSON value as a tree, with its dates in words.
enum ContentTree {
    /// The content of a notification.
    ///
    /// - Parameter remark: The note below the content.
    static func card(of notification: StatedNotification, _ remark: HTML? = nil) -> HTML {
        Console.card("Content") {
            if let content = notification.content.flatMap({ html(ofJSON: $0) }) {
                content
                remark
            } else {
                emptyNote("The content was not kept.")
            }
        }
    }

    /// - Returns: Nil for a text that is not JSON.
    static func html(ofJSON text: String) -> HTML? {
        (try? JSONParser.parse(Array(text.utf8))).map { html(of: $0, named: "") }
    }

    @HTMLBuilder private static func html(of value: JSONValue, named name: String) -> HTML {
        switch value {
        case .object(let object):
            ul {
                for member in object.members {
                    li { spaced(by: ": ", code { data(member.key) }, html(of: member.value, named: member.key)) }
                }
            }
        case .array(let elements):
            ol { for element in elements { li { html(of: element, named: name) } } }
        case .string(let text): data(text)
        case .number(let number):
            plain(number.text)
            if name.hasSuffix("Date"), let milliseconds = Int64(number.text) {
                also(Shown.moment(Timestamp(millisecondsSince1970: milliseconds)), by: " · ")
            }
        case .bool(let isTrue): plain(isTrue ? "true" : "false")
        case .null: plain("null")
        }
    }
}
