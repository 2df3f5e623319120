import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The page that problem documents link to.
@Suite struct ErrorDocumentationTests {
    @Test func `the page of errors explains exactly the existing codes`() throws {
        let explained = SharedAnswer.codes(explainedIn: ServiceRoutes.errorPage)
        #expect(Set(explained).count == explained.count)
        var codes = Set(ProofRefusal.Reason.allCases.map(\.rawValue))
        codes.formUnion(StorageFault.Cause.allCases.map { StorageFault(cause: $0, path: "").code })
        // The codes of routes and use cases are literals in the sources.
        let literal = /code: "([a-zA-Z]+)"/
        let rooms = ["Sources/AppStore/StoreHTTP", "Sources/HTTPSupport", "Sources/Service"]
        for file in try rooms.flatMap({ try Project.files($0, suffix: ".swift") }) {
            codes.formUnion(try Project.text(file).matches(of: literal).map { String($0.1) })
        }
        let rule = /(?:ErrorRule|Self\.invalid)\(\s*"([a-zA-Z]+)"/
        // The people of the team meet their errors in the console alone.
        let files = try Project.files("Sources", suffix: ".swift").filter { !$0.hasPrefix("Sources/Features/Team/") }
        for text in try files.map(Project.text) where text.contains(/: (?:\w+, )*(?:Ruled|LocalStore)Error\b/) {
            codes.formUnion(text.matches(of: rule).map { String($0.1) })
        }
        codes.formUnion(Redemption.Result.allCases.filter { !$0.allowsFinish }.map(\.rawValue))
        codes.formUnion(AccountError.allCases.map(\.code))
        codes.formUnion(PasswordError.allCases.map(\.code) + CredentialError.allCases.map(\.code))
        codes.formUnion([CatalogError(file: "", reason: "").code])
        codes.formUnion([IllegalPaymentTransition(state: .finished, event: .finish).code])
        #expect(Set(explained).subtracting(codes) == [])
        #expect(codes.subtracting(explained) == [])
    }

    @Test func `a problem links to the page of errors`() async throws {
        let fixture = try await ServiceFixture()
        let problem = try await fixture.send(.get, "/v1/products/none").decoded(ProblemResource.self)
        #expect(problem.type == "/errors#productNotFound")
        #expect(!problem.couldSucceedLater)
        let page = try await fixture.send(.get, "/errors", key: "")
        #expect(page.status == 200)
        #expect(page.contentType == "text/markdown; charset=utf-8")
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(text.contains("### productNotFound"))
        // A group of operations states its error alone.
        #expect(
            text.contains("### endPassed\nStatus 422. May succeed later: no.\nThe end of the grant is in the past."))
    }
}
