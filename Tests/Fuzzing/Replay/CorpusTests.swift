import Foundation
import FuzzTargets
import TestSupport
import Testing

/// What fuzzing has found worth keeping, fed again: no crash, no hang, nothing accepted that nobody signed.
@Suite struct CorpusTests {
    static let corpus = Project.root.appending(path: "Tests/Fuzzing/Corpus", directoryHint: .isDirectory)

    @Test(.timeLimit(.minutes(5)), arguments: FuzzTarget.allCases)
    func theCorpusIsReadWithoutHarm(target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.rawValue, directoryHint: .isDirectory)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 50)
        let signers = try Signers()
        for file in files { target.run(Array(try Data(contentsOf: file)), with: signers) }
    }

    @Test(arguments: FuzzTarget.allCases)
    func theSeedsAreGood(target: FuzzTarget) throws {
        let signers = try Signers()
        #expect(try !target.seeds(products: Project.products, with: signers).isEmpty)
    }
}
