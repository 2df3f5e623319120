import Foundation
import Proofs
import TestSupport
import Testing

/// The recorded answers of the real service, held against the schemas of this door's answers.
@Suite(.enabled(if: Vectors.areAvailable)) struct RecordedAnswerTests {
    static func recorded(_ name: String) throws -> JSONValue {
        let folder = try #require(Vectors.folder)
        let file = folder.appending(path: "revenuecat/responses/\(name).json", directoryHint: .notDirectory)
        return try JSONParser.parse([UInt8](try Data(contentsOf: file)))
    }

    private static let schemas = [
        ("CustomerInfo", "CustomerInfo"), ("CustomerInfo-v2", "CustomerInfo"),
        ("GetIntroEligibility", "IntroEligibility"), ("Offerings", "Offerings"), ("PostOffer", "SignedOffers"),
        ("ProductsEntitlements", "ProductEntitlementMapping"),
        ("ProductsEntitlementsWithBasePlanId", "ProductEntitlementMapping"),
        ("RestoreEligibility", "RestoreEligibility"), ("VirtualCurrencies", "VirtualCurrencies"),
    ]

    @Test(arguments: schemas)
    func `a recorded answer has the form of its schema`(answer: String, schema: String) throws {
        #expect(try JSONSchema(named: schema).violations(in: try Self.recorded(answer)) == [])
    }

    @Test(arguments: schemas)
    func `a recorded answer with one change does not have the form of its schema`(
        answer: String,
        schema: String
    ) throws {
        let schema = try JSONSchema(named: schema)
        let mutations = try schema.mutations(of: try Self.recorded(answer))
        #expect(mutations.count >= 3)
        for mutation in mutations {
            #expect(try !schema.violations(in: mutation.instance).isEmpty, "\(mutation.path)")
        }
    }

    @Test func `each recorded answer has a schema`() {
        let names = Vectors.files("revenuecat/responses").map { $0.deletingPathExtension().lastPathComponent }
        #expect(names.sorted() == Self.schemas.map(\.0).sorted())
    }
}
