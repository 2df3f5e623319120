import AppStore
import Catalog
import Proofs

extension OwnedItemResource {
    /// The item for people, such as "Basic, monthly, until 22 December 2026, renews".
    func sentence(naming catalog: Catalog) -> String {
        let product = productId.flatMap { catalog.product($0) }
        let name = product?.localization(language: "en")?.displayName ?? catalog.name(of: item)
        return ([name, product?.subscription?.period.adverb] + times + [stateWords])
            .compactMap { $0?.isEmpty == false ? $0 : nil }.joined(separator: ", ")
    }

    private var times: [String?] {
        guard let until = until?.day else { return [since.map { "since \($0.day)" }] }
        return ["until \(until)"]
    }

    private var stateWords: String? {
        switch state {
        case "trial": renews == false ? "trial, does not renew" : "trial"
        case "gracePeriod": "not paid, grace period"
        case "familyShared": "family sharing"
        case "willNotRenew": "does not renew"
        default: source == "grant" ? "granted by the team" : renews == true ? "renews" : nil
        }
    }
}

extension String {
    /// The day of an RFC 3339 date in UTC, such as "22 December 2026"; the text itself if it is none.
    fileprivate var day: String {
        let parts = prefix(10).split(separator: "-").compactMap { Int($0) }
        let months = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December",
        ]
        guard parts.count == 3, months.indices.contains(parts[1] - 1) else { return self }
        return "\(parts[2]) \(months[parts[1] - 1]) \(parts[0])"
    }
}

extension SubscriptionPeriod {
    /// The period as an adverb: "monthly", "every 3 months".
    fileprivate var adverb: String {
        guard value == 1 else { return "every \(words)" }
        return switch unit {
        case .day: "daily"
        case .week: "weekly"
        case .month: "monthly"
        case .year: "yearly"
        }
    }
}
