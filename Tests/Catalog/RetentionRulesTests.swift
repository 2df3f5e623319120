import Catalog
import Foundation
import Proofs
import TestSupport
import Testing

/// The rules about retention messages in a catalog's folder.
@Suite struct RetentionRulesTests {
    private static let message = "c2d9e0a6-1f57-4d3c-b7a4-8e6f5a3b9d02"
    private static let monthly = "garden.basic.monthly"

    /// A catalog of the garden with rules.
    private static func catalog(_ rules: String) throws -> Catalog { try TestGarden(retentionRules: rules).catalog }

    private static func decision(
        _ rules: String, about facts: RetentionFacts
    ) throws -> RetentionDecision {
        let catalog = try catalog(#"{"rules": [\#(rules)]}"#)
        return try #require(catalog.retentionRules).decision(about: facts, in: catalog)
    }

    private static func rule(_ name: String, _ conditions: String, _ answer: String = "{}") -> String {
        #"{"name": "\#(name)", \#(conditions.isEmpty ? "" : conditions + ",") "answer": \#(answer)}"#
    }

    private static func facts(
        product: String = monthly, locale: String = "en-US", _ ownership: RetentionFacts.Ownership? = known
    ) -> RetentionFacts { RetentionFacts(product: product, locale: locale, ownership: ownership) }

    private static let known = RetentionFacts.Ownership(
        isRedeemed: true, storefront: "USA", age: 40 * 86_400, isTrial: false, isFamilyShared: false)

    /// The conditions of a rule, and true if they hold.
    static let conditions: [(String, Bool)] = [
        ("", true),
        (#""products": ["garden.basic.monthly"]"#, true), (#""products": ["garden.premium.monthly"]"#, false),
        (#""products": []"#, false),
        (#""locales": ["ko", "en"]"#, true), (#""locales": ["en_US"]"#, true), (#""locales": ["EN-us"]"#, true),
        (#""locales": ["en-GB"]"#, false), (#""locales": ["es"]"#, false),
        (#""storefronts": ["KOR", "USA"]"#, true), (#""storefronts": ["KOR"]"#, false),
        (#""subscribedDays": {"atLeast": 40}"#, true), (#""subscribedDays": {"atLeast": 41}"#, false),
        (#""subscribedDays": {"atMost": 39}"#, false),
        (#""isTrial": false"#, true), (#""isTrial": true"#, false),
        (#""isFamilyShared": false"#, true), (#""isFamilyShared": true"#, false),
        (#""isRedeemed": true"#, true), (#""isRedeemed": false"#, false),
        (#""locales": ["en"], "isTrial": true"#, false),
    ]

    @Test(arguments: conditions) func `a rule matches if all its conditions hold`(_ text: String, _ holds: Bool) throws
    {
        let decision = try Self.decision(Self.rule("a", text), about: Self.facts())
        #expect(decision == (holds ? .chosen(.defaultMessage, rule: "a") : .unmatched))
    }

    @Test(
        arguments: [
            #""storefronts": ["USA"]"#, #""subscribedDays": {"atMost": 100000}"#, #""isTrial": false"#,
            #""isFamilyShared": false"#,
        ])
    func `a condition about an unknown fact does not hold`(_ text: String) throws {
        let stranger = RetentionFacts.Ownership(isRedeemed: false)
        #expect(try Self.decision(Self.rule("a", text), about: Self.facts(stranger)) == .unmatched)
    }

    @Test func `a rule that asks the ledger holds up later ones, unless the question decides`() throws {
        let rules = [
            Self.rule("korean trial", #""locales": ["ko"], "isTrial": true"#), Self.rule("trial", #""isTrial": true"#),
            Self.rule("rest", "", #"{"message": {"messageIdentifier": "\#(Self.message)"}}"#),
        ].joined(separator: ",")
        #expect(try Self.decision(rules, about: Self.facts(nil)) == .undecided(rule: "trial"))
        #expect(try Self.decision(rules, about: Self.facts(locale: "ko-KR", nil)) == .undecided(rule: "korean trial"))
        let rest = try Self.decision(rules, about: Self.facts())
        #expect(rest.text == "message \(Self.message) by rule \"rest\"" && rest.rule == "rest")
        #expect(try Self.decision(rules, about: Self.facts(nil)).choice == .defaultMessage)
    }

    /// Answers, the products of the customer, and true if the App Store can show the answer to the customer.
    static let answers: [(String, String, Bool)] = [
        (
            #"{"alternateProduct": {"messageIdentifier": "\#(message)", "productId": "garden.premium.monthly"}}"#,
            monthly, true
        ),
        (#"{"alternateProduct": {"messageIdentifier": "\#(message)", "productId": "\#(monthly)"}}"#, monthly, false),
        (
            #"{"alternateProduct": {"messageIdentifier": "\#(message)", "productId": "\#(monthly)"}}"#,
            "garden.unknown", false
        ),
        (#"{"promotionalOffer": {"messageIdentifier": "\#(message)", "offerIdentifier": "spring"}}"#, monthly, true),
        (
            #"{"promotionalOffer": {"messageIdentifier": "\#(message)", "offerIdentifier": "spring"}}"#,
            "garden.premium.monthly", false
        ),
        (
            #"{"promotionalOffer": {"messageIdentifier": "\#(message)", "offerIdentifier": "spring", "productId": "\#(monthly)"}}"#,
            "garden.premium.monthly", true
        ),
    ]

    @Test(arguments: answers) func `an answer that the App Store cannot show is passed over`(
        _ answer: String, _ product: String, _ isPossible: Bool
    ) throws {
        let decision = try Self.decision(Self.rule("a", "", answer), about: Self.facts(product: product))
        #expect((decision == .unmatched) == !isPossible)
    }

    @Test func `a change of described items is kept as it is`() throws {
        let request = #"{"retainBillingCycle": true, "changeItems": [{"SKU": "bench"}]}"#
        let answer = #"{"advancedCommerceInfo": {"messageIdentifier": "\#(Self.message)", "request": \#(request)}}"#
        let catalog = try Self.catalog(#"{"dryRun": true, "rules": [\#(Self.rule("a", "", answer))]}"#)
        let rules = try #require(catalog.retentionRules)
        #expect(rules.isDryRun && rules.needsKey)
        #expect(rules.decision(about: Self.facts(), in: catalog).choice.name == "advancedCommerceInfo")
        #expect(try TestGarden().catalog.retentionRules == nil)
    }

    @Test(
        arguments: [
            (#"{}"#, "rules", "the key is missing"),
            (#"{"rules": [{"name": "a"}]}"#, "rules[0].answer", "the key is missing"),
            (
                #"{"rules": [{"name": "a", "answer": {"messages": {}}}]}"#, "rules[0].answer.messages",
                "the key is unknown; the nearest known one is \"message\""
            ),
            (
                #"{"rules": [{"name": "a", "answer": {"message": {"messageIdentifier": "stay"}}}]}"#,
                "rules[0].answer.message.messageIdentifier", "it must be the UUID under which the message was uploaded"
            ),
            (
                #"{"rules": [{"name": "a", "answer": {"message": {"messageIdentifier": "\#(message)"}, "promotionalOffer": {"messageIdentifier": "\#(message)", "offerIdentifier": "spring"}}}]}"#,
                "rules[0].answer", "it has several parts; the App Store takes one"
            ),
            (
                #"{"rules": [{"name": "a", "answer": {"promotionalOffer": {"messageIdentifier": "\#(message)", "offerIdentifier": "autumn"}}}]}"#,
                "rules[0].answer.promotionalOffer.offerIdentifier", "the catalog has no promotional offer autumn"
            ),
            (
                #"{"rules": [{"name": "a", "answer": {"alternateProduct": {"messageIdentifier": "\#(message)", "productId": "garden.seeds"}}}]}"#,
                "rules[0].answer.alternateProduct.productId", "garden.seeds is no auto-renewable subscription"
            ),
            (
                #"{"rules": [{"name": "a", "answer": {"alternateProduct": {"messageIdentifier": "\#(message)", "productId": "garden.premium.monthly", "billingPlanType": "YEARLY"}}}]}"#,
                "rules[0].answer.alternateProduct.billingPlanType",
                "it is \"YEARLY\"; choose one of BILLED_UPFRONT, MONTHLY"
            ),
            (
                #"{"rules": [{"name": "a", "answer": {"advancedCommerceInfo": {"messageIdentifier": "\#(message)", "request": {"transactionId": "1"}}}}]}"#,
                "rules[0].answer.advancedCommerceInfo.request.transactionId", "leave it out; the service adds it"
            ),
            (
                #"{"rules": [{"name": "a", "answer": {"advancedCommerceInfo": {"messageIdentifier": "\#(message)", "request": {"changeItems": []}}}}]}"#,
                "rules[0].answer.advancedCommerceInfo.request.changeItems", "it must have one item"
            ),
            (
                #"{"rules": [{"name": "a", "products": ["garden.weeds"], "answer": {}}]}"#, "rules[0].products[0]",
                "the catalog has no product garden.weeds; the nearest known one is \"garden.seeds\""
            ),
            (
                #"{"rules": [{"name": "a", "locales": ["english"], "answer": {}}]}"#, "rules[0].locales[0]",
                "it is \"english\"; write a language or a locale, such as en or en-US"
            ),
            (
                #"{"rules": [{"name": "a", "storefronts": ["US"], "answer": {}}]}"#, "rules[0].storefronts[0]",
                "it is \"US\"; write a country in three letters, such as KOR"
            ),
            (
                #"{"rules": [{"name": "a", "answer": {}}, {"name": "a", "answer": {}}]}"#, "rules[1]",
                "a is there twice"
            ),
        ] as [(String, String, String)])
    func `an error names the key and the reason`(_ text: String, _ key: String, _ reason: String) throws {
        do {
            _ = try Self.catalog(text)
            Issue.record("The rules were accepted.")
        } catch let error as CatalogError {
            #expect(error.key == key && error.reason == reason)
            #expect(error.file.hasSuffix("/\(Catalog.retentionRulesFile)"))
        }
    }
}
