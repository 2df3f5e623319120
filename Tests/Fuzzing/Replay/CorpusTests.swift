import Foundation
import FuzzTargets
import TestSupport
import Testing

/// Replays the inputs that fuzzing has kept. No input may crash, hang, or be accepted without a signature.
@Suite struct CorpusTests {
    static let corpus = Project.root.appending(path: "Tests/Fuzzing/Corpus", directoryHint: .isDirectory)

    @Test(.timeLimit(.minutes(5)), arguments: FuzzTarget.allCases)
    func `the corpus is read without a crash or forgery`(target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.rawValue, directoryHint: .isDirectory)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 50)
        let signers = try Signers()
        for file in files { target.run(Array(try Data(contentsOf: file)), with: signers) }
    }

    @Test(arguments: FuzzTarget.allCases)
    func `each target has valid seeds`(target: FuzzTarget) throws {
        let signers = try Signers()
        #expect(try !target.seeds(products: Project.products, with: signers).isEmpty)
    }
}
