import AppStore
import Proofs

/// A notification in words.
struct StoreNotificationText {
    private let notification: StoreNotification

    init(_ notification: StoreNotification) {
        self.notification = notification
    }

    var type: HTML {
        HTML {
            code { plain(notification.type.rawValue) }
            if let subtype = notification.subtype {
                plain(" ")
                code { plain(subtype.rawValue) }
            }
        }
    }

    var transaction: HTML {
        notification.transactionIdentifier.map { identifier in
            a(.href(.storeTransaction(identifier))) { Shown.identifier(identifier) }
        } ?? Shown.nothing
    }

    var state: HTML {
        if notification.nextAttemptDate != nil { return Shown.badge(Phrase("Will be sent", "보낼 예정"), .warning) }
        switch notification.sendAttempts.last?.result {
        case .success: return Shown.badge(Phrase("Received", "받음"), .good)
        case .some: return Shown.badge(Phrase("Not received", "받지 못함"), .bad)
        case nil: return Shown.badge(Phrase("Not sent", "보내지 않음"))
        }
    }
}
