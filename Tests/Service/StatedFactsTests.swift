import Foundation
import HTTPSupport
import Proofs
import Service
import Testing

/// The facts of the App Store in answers, and their schemas.
@Suite struct StatedFactsTests {
    private func json(_ facts: StatedFacts<some StatedFact>) throws -> String {
        String(decoding: try JSONAnswer.encode(facts.content), as: UTF8.self)
    }

    @Test func `an answer has each fact in the form of its field`() throws {
        let purchase = TransactionFacts([
            .price: .integer(7), .currency: .text("KRW"), .isUpgraded: .integer(1),
            .isInIntroductoryOfferPeriod: .integer(0), .expiresDate: .integer(1_801_396_800_000),
            .appAccountToken: .text("00000000-0000-4000-8000-000000000001"),
            .commitmentInfo: .text(#"{"totalBillingPeriods":12,"billingPeriodNumber":1}"#),
        ])
        #expect(
            try json(purchase)
                == #"{"appAccountToken":"00000000-0000-4000-8000-000000000001","#
                + #""commitmentInfo":{"billingPeriodNumber":1,"totalBillingPeriods":12},"currency":"KRW","#
                + #""expiresDate":"2027-01-31T12:00:00Z","isInIntroOfferPeriod":false,"isUpgraded":true,"price":7}"#)
        let renewal = RenewalFacts([
            .autoRenewStatus: .integer(1), .eligibleWinBackOfferIds: .text(#"["a","b"]"#),
            .isInBillingRetryPeriod: .integer(0),
        ])
        #expect(
            try json(renewal)
                == #"{"autoRenewStatus":1,"eligibleWinBackOfferIds":["a","b"],"isInBillingRetryPeriod":false}"#)
        #expect(try json(TransactionFacts()) == "{}")
    }

    @Test func `an answer leaves out what has another form`() throws {
        let facts = TransactionFacts([
            .price: .text("7"), .currency: .integer(7), .isUpgraded: .text("true"), .expiresDate: .text("2027"),
            .commitmentInfo: .text("{"), .multiSeatInfo: .integer(1),
        ])
        #expect(try json(facts) == "{}")
    }

    @Test func `the schemas have the fields of the tables`() throws {
        let document = try JSONDecoder().decode(
            OpenAPI.self, from: Data(try OpenAPIDocument.composed.get().json.compactBytes))
        func check<Fact: StatedFact>(_ schema: String, _ table: Fact.Type) throws {
            let properties = try #require(document.components.schemas[schema]?.properties)
            #expect(Set(properties.keys) == Set(table.allCases.map(\.rawValue)))
            for fact in table.allCases {
                let type =
                    switch fact.field.kind {
                    case .text, .token, .date: "string"
                    case .integer: "integer"
                    case .bool: "boolean"
                    case .texts: "array"
                    case .object: "object"
                    }
                let property = properties[fact.rawValue]
                #expect(property?.type?.text == type, "\(schema).\(fact.rawValue)")
                #expect((property?.format == "date-time") == (fact.field.kind == .date), "\(schema).\(fact.rawValue)")
            }
        }
        try check("TransactionFacts", TransactionFact.self)
        try check("RenewalFacts", RenewalFact.self)
    }

    @Test func `the position of a fact is its place in the table`() {
        #expect(TransactionFact.allCases.map(\.position) == Array(TransactionFact.allCases.indices))
        #expect(RenewalFact.allCases.map(\.position) == Array(RenewalFact.allCases.indices))
    }

    @Test func `facts are the same values in any order, and without those that were removed`() {
        let values = Dictionary(
            uniqueKeysWithValues: TransactionFact.allCases.map { ($0, StatedValue.text($0.rawValue)) })
        var facts = TransactionFacts(values)
        #expect(facts.values == values)
        for fact in TransactionFact.allCases.reversed() {
            facts[fact] = nil
            let rest = values.filter { facts[$0.key] != nil }
            #expect(rest.count == fact.position)
            #expect(facts == TransactionFacts(rest) && facts.values == rest)
        }
        #expect(facts.isEmpty && facts == TransactionFacts())
    }
}
