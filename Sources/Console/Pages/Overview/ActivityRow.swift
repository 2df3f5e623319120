import Features
import Ledger
import Proofs

/// An entry of the live activity.
struct ActivityRow {
    let activity: ActivityEntry
    /// The names of the API keys by their identifiers.
    let keyNames: [String: String]

    private var entry: AuditEntry { activity.entry }

    var html: HTML {
        li(.class(entry.event.mood == .neutral ? "" : entry.event.mood.rawValue)) {
            Shown.badge(entry.event.title, entry.event.mood)
            if !entry.subject.isEmpty, entry.event != .erased {
                plain(" ")
                Shown.identifier(entry.subject)
            }
            plain(" ")
            customer
            div(.class("note")) {
                Shown.moment(entry.happenedAt)
                plain(" · ")
                actor
                if let origin = entry.origin {
                    plain(" · ")
                    plain(origin.rawValue)
                }
                if let reason = entry.reason {
                    plain(" · ")
                    data(reason)
                }
            }
        }
    }

    private var customer: HTML {
        guard let user = activity.user else { return HTML { Phrase("(erased customer)", "(삭제된 고객)") } }
        return Shown.link(to: user)
    }

    private var actor: HTML {
        HTML {
            switch entry.actor {
            case .user: Phrase("by the customer", "고객")
            case .appStore: Phrase("by the App Store", "App Store")
            case .till: Phrase("by Till", "Till")
            case .member(let name): byline(name)
            case .apiKey(let identifier): byline(keyNames[identifier] ?? identifier)
            }
        }
    }

    private func byline(_ name: String) -> HTML {
        HTML {
            Phrase("by ", "담당: ")
            data(name)
        }
    }
}
