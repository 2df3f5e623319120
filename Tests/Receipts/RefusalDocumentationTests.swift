import Foundation
import Proofs
import TestSupport
import Testing

@Suite struct RefusalDocumentationTests {
    @Test func `the page about verification has each code at its step, and the steps in their order`() throws {
        let rows = try Project.text("Documentation/Verification.md").split(separator: "\n").filter {
            $0.hasPrefix("| ")
        }
        let names: [ProofRefusal.Step: String] = [.appAndOrigin: "app and origin"]
        for reason in ProofRefusal.Reason.allCases {
            let step = names[reason.step] ?? reason.step.rawValue
            #expect(rows.contains { $0.hasPrefix("| \(step) |") && $0.contains("`\(reason.rawValue)`") }, "\(reason)")
        }
        let steps = ProofRefusal.Step.allCases.map { names[$0] ?? $0.rawValue }
        let described = rows.compactMap { row in steps.first { row.hasPrefix("| \($0) |") } }
        #expect(described == steps)
    }

    @Test func `only refusals that time resolves may succeed later`() {
        #expect(ProofRefusal.Reason.allCases.filter(\.couldSucceedLater) == [.signedInFuture, .revocationUnavailable])
    }
}
