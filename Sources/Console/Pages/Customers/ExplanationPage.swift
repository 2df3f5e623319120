import Features
import Proofs

/// The page that answers why a customer has an item or does not.
struct ExplanationPage {
    let user: User
    /// The items to choose from: those of the catalogs and those that the customer owns.
    let items: [Item]
    /// Nil before an item is chosen.
    let explanation: ItemExplanation?
    let names: CatalogNames

    var page: Page {
        Page(
            Phrase("Why does the customer (not) have it?", "왜 있나요, 왜 없나요?"), section: .customers
        ) {
            CustomerCrumb(user: user).html
            form(.class("card narrow"), .method("get"), .action(.customer(user, "explanation"))) {
                Field.choice(
                    "item", Phrase("Item", "아이템"), items.map { ($0.description, names.item($0)) },
                    chosen: explanation?.item.description)
                button(.class("primary")) { Phrase("Explain", "설명") }
            }
            if let explanation { answer(explanation) }
        }
    }

    private func answer(_ explanation: ItemExplanation) -> HTML {
        let words = ExplanationWords(explanation: explanation)
        return section(.class("card"), .id("explanation")) {
            h2 {
                names.picture(explanation.item)
                plain(" ")
                bdi { names.item(explanation.item) }
            }
            p {
                explanation.isOwned
                    ? Shown.badge(Phrase("The customer has it", "고객에게 있음"), .good)
                    : Shown.badge(Phrase("The customer does not have it", "고객에게 없음"), .bad)
            }
            p { bdi { words.sentence } }
            if let remedy = words.remedy {
                p {
                    strong { Phrase("What to do: ", "해결: ") }
                    bdi { remedy }
                }
            }
            Facts.list(facts(of: explanation))
        }
    }

    private func facts(of explanation: ItemExplanation) -> [(name: Phrase, value: HTML)] {
        [
            (Phrase("Cause", "원인"), Shown.identifier(explanation.cause.rawValue)),
            (Phrase("Since", "시작"), Shown.moment(explanation.since)),
            (Phrase("Until", "종료"), Shown.moment(explanation.until)),
            (Phrase("Reference", "참조"), reference(of: explanation)),
            (Phrase("Origin", "출처"), explanation.origin.map { OriginWords.html($0) } ?? Shown.nothing),
            (
                Phrase("Owner", "가진 사용자"),
                explanation.otherOwner.map { Shown.link(to: $0) } ?? Shown.nothing
            ),
        ]
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
                .href(
                    .customer(
                        user, "transactions", reference, query: ["origin": explanation.origin?.rawValue]))
            ) { Shown.identifier(reference) }
        }
    }
}
