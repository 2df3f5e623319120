import Features
import Hummingbird
import Proofs

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
        if let item { explanation = try await entitlements.explanation(of: item, for: user) }
        let items = Set(names.items + owned + [item].compactMap(\.self)).sorted()
        return Page("Why does the customer (not) have it?", section: .customers) {
            Shown.wayBack(to: user)
            form(.class("card narrow"), .method("get"), .action(.customer(user, "explanation"))) {
                Field.choice(
                    "item", "Item", items.map { ($0.description, names.item($0)) },
                    chosen: explanation?.item.description)
                button(.class("primary")) { "Explain" }
            }
            if let explanation { answer(explanation) }
        }
    }

    private func answer(_ explanation: ItemExplanation) -> HTML {
        let words = ExplanationWords(explanation: explanation)
        return section(.class("card"), .id("explanation")) {
            h2 { spaced(names.picture(explanation.item), bdi { names.item(explanation.item) }) }
            p {
                explanation.isOwned
                    ? Shown.badge("The customer has it", .good)
                    : Shown.badge("The customer does not have it", .bad)
            }
            p { bdi { words.sentence } }
            if let remedy = words.remedy {
                p {
                    strong { "What to do: " }
                    bdi { remedy }
                }
            }
            Facts.list(facts(of: explanation))
        }
    }

    @FactsBuilder private func facts(of explanation: ItemExplanation) -> [Fact] {
        fact("Cause") { Shown.identifier(explanation.cause.rawValue) }
        fact("Since") { Shown.moment(explanation.since) }
        fact("Until") { Shown.moment(explanation.until) }
        fact("Reference") { reference(of: explanation) }
        fact("Origin") { explanation.origin.map { OriginWords.html($0) } ?? Shown.nothing }
        fact("Owner") { explanation.otherOwner.map { Shown.link(to: $0) } ?? Shown.nothing }
    }

    private func reference(of explanation: ItemExplanation) -> HTML {
        guard let reference = explanation.reference else { return Shown.nothing }
        switch explanation.cause {
        case .granted, .grantEnded, .grantTakenBack:
            return a(.href(.customer(user, "grants"))) { Shown.identifier(reference) }
        case .unclaimed:
            return a(.href(ConsolePath("unclaimed", query: ["transaction": reference]))) { Shown.identifier(reference) }
        case .expected:
            // The ledger has no transaction of the purchase yet.
            return Shown.identifier(reference)
        case .refused, .transferredToAnotherUser:
            return a(.href(ConsolePath("customers", query: ["search": reference]))) { Shown.identifier(reference) }
        default:
            return a(
                .href(.customer(user, "transactions", reference, query: ["origin": explanation.origin?.rawValue]))
            ) { Shown.identifier(reference) }
        }
    }
}
