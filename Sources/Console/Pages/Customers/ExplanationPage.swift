import Entitlements
import Hummingbird
import Proofs
import Vocabulary

extension CustomerView {
    /// The page that answers why a customer has an item or does not.
    func explanationPage(_ request: Request) async throws -> Page {
        var item = try request.query("item").flatMap { Item(typed: $0) }
        if let collection = try request.query("collection"),
            let number = try request.query("number").flatMap({ Int($0) }),
            number >= 0
        {
            item = Item(collection: collection, number: number)
        }
        let owned = try await entitlements.ownItems(of: user)
        var explanation: ItemExplanation?
        if let item {
            explanation = try await entitlements.explanation(of: item, for: user, with: services.storeActions)
        }
        let items = Set(names.items + owned + [item].compactMap(\.self)).sorted()
        return Page("Explain an item", section: .customers) {
            Shown.wayBack(to: user)
            filters(.customer(user, "explanation"), submit: "Explain") {
                Field.choice(
                    "item", "Item", items.map { ($0.description, names.item($0)) },
                    chosen: explanation?.item.description)
            }
            if let explanation { answer(explanation) }
        }
    }

    private func answer(_ explanation: ItemExplanation) -> HTML {
        section(.class("card"), .id("explanation")) {
            h2(.class("pictured")) { spaced(names.picture(explanation.item), bdi { names.item(explanation.item) }) }
            p {
                explanation.isOwned
                    ? Shown.badge("The customer has it", .good)
                    : Shown.badge("The customer does not have it", .bad)
            }
            p { bdi { Shown.sentence(explanation.sentencePhrase) } }
            if let remedy = explanation.remedyPhrase {
                p {
                    strong { "What to do: " }
                    bdi { Shown.sentence(remedy) }
                }
            }
            if explanation.cause == .unclaimed {
                p(.class("actions")) {
                    a(.class("button"), .href(ConsolePath("customers"))) { "Search by order number" }
                }
            }
            Facts.list(facts(of: explanation))
        }
    }

    @FactsBuilder private func facts(of explanation: ItemExplanation) -> [Fact] {
        fact("Cause") { Shown.identifier(explanation.cause.rawValue) }
        fact("Since") { Shown.moment(explanation.since) }
        fact("Until") {
            explanation.cause == .granted ? Shown.lastDay(before: explanation.until) : Shown.moment(explanation.until)
        }
        fact("Reference") { reference(of: explanation) }
        fact("Origin") { explanation.origin.map { OriginWords.html($0) } }
        fact("Owner") { explanation.otherOwner.map { Shown.link(to: $0) } }
    }

    private func reference(of explanation: ItemExplanation) -> HTML? {
        guard let reference = explanation.reference else { return nil }
        let path: ConsolePath
        switch explanation.cause {
        case .granted, .grantEnded, .grantTakenBack: path = .customer(user, "grants")
        // The ledger has no transaction of the purchase yet.
        case .expected: return Shown.identifier(reference)
        case .refused, .transferredToAnotherUser: path = .customers(reference)
        default: path = .customer(user, "transactions", reference, query: ["origin": explanation.origin?.rawValue])
        }
        return a(.href(path), Shown.identifier(reference))
    }
}

/// The explanation in both languages.
extension ItemExplanation {
    fileprivate var sentencePhrase: Phrase {
        guard let until, let lastMoment else { return phrase(sentence, "explanation") }
        return phrase(sentence.replacing(until.rfc3339, with: lastMoment.rfc3339), "explanation")
    }

    /// The moment on whose day it ends. A gift ends after its last day.
    private var lastMoment: Timestamp? { cause == .granted ? until?.adding(milliseconds: -1) : until }

    /// Nil if no remedy is needed.
    fileprivate var remedyPhrase: Phrase? {
        remedy.map { english in
            // The page leads to a button for it, where the API names a route.
            if cause == .revokedByTeam { return "Reinstate the purchase on its page." }
            let company = store.company
            switch refund {
            case .service:
                return
                    "Have the order refunded on the page of the purchase, if \(company) has not. The item comes back if \(company) reverses the refund, or the team grants it."
            case .console:
                return
                    "The order is refunded in the Play Console, or by \(company) at \(store.refundAddress ?? ""). The item comes back if \(company) reverses the refund, or the team grants it."
            case .store, nil: break
            }
            guard cause == .refused else { return phrase(english, "remedy") }
            return Phrase(english: english, korean: refusal?.korean.remedy ?? english)
        }
    }

    /// A text of the explanation. Its Korean is in the catalog under the cause.
    private func phrase(_ english: String, _ kind: String) -> Phrase {
        let isOver = cause == .expected && reason != nil
        return Phrase(stated: english, key: "\(cause.rawValue)\(isOver ? " before" : "") [\(kind)]", values)
    }

    /// The values of the catalog's entries: products, end, reason, reason of the expiry, origin, cause of a refusal, the
    /// day of the purchase, the store's company, its address for refunds, and its name.
    private var values: [String] {
        [
            products.map { CustomerWords.isolated($0) }.joined(separator: " 또는 "),
            (lastMoment.map { ", \($0.rfc3339)까지" } ?? "") + (renews ? ", 갱신됩니다" : ""),
            reason.map { ": \(CustomerWords.isolated($0))" } ?? ".",
            reason.flatMap { ExpirationReason(rawValue: $0) }.map {
                " (\(Phrase(stated: isOwned ? $0.cancellation(at: store) : $0.sentence).korean))"
            } ?? "",
            origin?.rawValue ?? "", refusal?.korean.cause ?? reason ?? "",
            since?.rfc3339 ?? "", store.company, store.refundAddress.map { "(\($0))" } ?? "", store.title.korean,
        ]
    }

    private var store: PurchaseStore { origin?.store ?? .appStore }

    private var refusal: RefusalRemedy? { reason.flatMap { RefusalRemedy(code: $0) } }
}
