import Foundation
import Receipts
import TestSupport
import Testing

@Suite struct RefusalDocumentationTests {
    @Test func everyCodeStandsInREADMEAtItsStep() throws {
        let readme = try String(contentsOf: Project.root.appending(path: "README.md"), encoding: .utf8)
        let rows = readme.split(separator: "\n").filter { $0.hasPrefix("| ") }
        let names: [ProofRefusal.Step: String] = [.appAndOrigin: "app and origin"]
        for reason in ProofRefusal.Reason.allCases {
            let step = names[reason.step] ?? reason.step.rawValue
            #expect(rows.contains { $0.hasPrefix("| \(step) |") && $0.contains("`\(reason.rawValue)`") }, "\(reason)")
        }
    }

    @Test func onlyWhatTimeMendsIsWorthAnotherTry() {
        #expect(ProofRefusal.Reason.allCases.filter(\.couldSucceedLater) == [.signedInFuture, .revocationUnavailable])
    }
}
