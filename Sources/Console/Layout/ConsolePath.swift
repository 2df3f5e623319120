import Features
import Foundation

/// An address within the console. Its segments and parameters are encoded, so text from outside cannot change its structure.
struct ConsolePath: Hashable, Sendable {
    /// The path under which the console is served.
    static let root = "/console"
    /// The maximum length of an address that a browser sends, in bytes.
    static let maximumLength = 1024
    private static let allowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// The encoded path and query.
    let text: String

    /// - Parameters:
    ///   - segments: The segments after `/console`.
    ///   - query: The parameters. One without a value is left out.
    ///   - notice: The confirmation that the page shows.
    init(_ segments: String..., query: KeyValuePairs<String, String?> = [:], done notice: Notice? = nil) {
        self.init(segments, query: query.map { ($0, $1) }, done: notice)
    }

    init(_ segments: [String], query: [(String, String?)] = [], done notice: Notice? = nil) {
        var text = Self.root
        for segment in segments { text += "/" + Self.encoded(segment) }
        let parameters = (query + [("done", notice?.rawValue)]).compactMap { name, value in
            value.map { "\(name)=\(Self.encoded($0))" }
        }
        if !parameters.isEmpty { text += "?" + parameters.joined(separator: "&") }
        self.text = text
    }

    /// The path of an address that a browser sent. Nil for an address outside of the console.
    ///
    /// - Parameter text: The encoded path and query.
    init?(request text: String) {
        let isPrintable = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
        guard text.utf8.count <= Self.maximumLength, isPrintable,
            text == Self.root || text.hasPrefix(Self.root + "/") || text.hasPrefix(Self.root + "?")
        else { return nil }
        self.text = text
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}

/// A language of the console, by its tag (RFC 5646).
package enum ConsoleLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case korean = "ko"

    /// The name of the language in the language itself.
    var ownName: String {
        switch self {
        case .english: "English"
        case .korean: "한국어"
        }
    }
}

/// An entry of the navigation. Its raw value names its icon.
enum ConsoleSection: String, Sendable, CaseIterable {
    case overview, figures, products, customers, unclaimed, refusals, proofs
    case appStore, webhooks, localStore, localPlay, health, team

    /// The entries under their headings.
    static let groups: [(title: Phrase, sections: [ConsoleSection])] = [
        ("Sales", [.overview, .figures, .products]),
        ("Support", [.customers, .unclaimed, .refusals, .proofs]),
        ("Connections", [.appStore, .webhooks, .localStore, .localPlay]),
        ("Service", [.health, .team]),
    ]

    /// True for an entry that stands below the first one of its group.
    var isSecondary: Bool { [.unclaimed, .refusals, .proofs].contains(self) }

    var tab: Tab {
        switch self {
        case .overview: Tab("Overview")
        case .figures: Tab("Figures", "figures")
        case .customers: Tab("Customers", "customers")
        case .unclaimed: Tab("Unclaimed purchases", "unclaimed")
        case .refusals: Tab("Refusals", "refusals")
        case .proofs: Tab("Proof inspector", "proofs")
        case .products: Tab("Products", "products")
        case .appStore: Tab("App Store", "app-store")
        case .webhooks: Tab("Webhooks", "webhooks")
        case .localStore: Tab("Local App Store", "store")
        case .localPlay: Tab("Local Google Play", "play")
        case .health: Tab("Health", "health")
        case .team: Tab("Team", "team")
        }
    }

    var path: ConsolePath { tab.path }

    /// The permission without which the entry is not shown.
    var permission: TeamPermission {
        switch self {
        case .localStore, .localPlay: .store
        case .team: .administer
        default: .view
        }
    }
}

/// A confirmation that a page shows after a form succeeded. Its name is the parameter `done` of the page's address.
enum Notice: String, Sendable {
    case saved, created, removed, withdrawn, restored, given, revoked, reinstated, credited, moved, assigned, queued,
        erased, requested
    case secretReplaced, started, bought, redeemed, approved, declined, refunded, advanced, cleared, performed

    var sentence: Phrase {
        switch self {
        case .saved: "Saved."
        case .created: "Created."
        case .removed: "Removed."
        case .withdrawn: "Withdrawn from sale."
        case .restored: "Restored."
        case .given: "The item was given."
        case .revoked: "Revoked."
        case .reinstated: "Reinstated."
        case .credited: "The balance was increased."
        case .moved: "The purchase was moved to this customer."
        case .assigned: "The purchase was assigned."
        case .queued: "The messages will be sent again."
        case .erased: "The customer was erased."
        case .requested: "The request is recorded. Its state is below."
        case .secretReplaced: "The secret was replaced."
        case .started: "Started."
        case .bought: "Bought."
        case .redeemed: "Redeemed at the service."
        case .approved: "Approved."
        case .declined: "Declined."
        case .refunded: "Refunded."
        case .advanced: "The clock was advanced."
        case .cleared: "Cleared."
        case .performed: "Done."
        }
    }
}
