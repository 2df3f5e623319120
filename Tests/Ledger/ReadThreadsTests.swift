import Dispatch
import Foundation
import Ledger
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite(.enabled(if: LedgerFixture.isFile)) struct ReadThreadsTests {
    /// A disk that hangs blocks each inline read. One thread of the process must stay free.
    @Test(.timeLimit(.minutes(1))) func `reads of several ledgers share one budget of inline threads`() async throws {
        let folder = try TemporaryFolder()
        let ledgers = try (0..<2 * ProcessInfo.processInfo.activeProcessorCount).map {
            try Ledger(file: folder.file("\($0).sqlite"))
        }
        let disk = DispatchSemaphore(value: 0)
        let reads = ledgers.map { ledger in Task { try await ledger.read { _ in disk.wait() } } }
        // With one budget for each ledger, no thread would be free to run this.
        let isServed = await Task { true }.value
        #expect(isServed)
        for _ in reads { disk.signal() }
        for read in reads { try await read.value }
    }

    /// Exports and figures may take minutes, and verifications use the threads of the process.
    @Test(.timeLimit(.minutes(1))) func `long reads leave the threads of the process free`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try Ledger(file: folder.file("ledger.sqlite"))
        let end = DispatchSemaphore(value: 0)
        let reads = (0..<2 * NIOSingletons.blockingPoolThreadCountSuggestion).map { _ in
            Task { try await ledger.read(.longSnapshot) { _ in end.wait() } }
        }
        await expectEventually { ledger.waitingCount > 0 }
        #expect(try await NIOThreadPool.singleton.runIfActive { true })
        for _ in reads { end.signal() }
        for read in reads { try await read.value }
    }

    @Test func `a cancelled read no longer waits`() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let ledger = try Ledger(file: folder.file("ledger.sqlite"))
        let read = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await ledger.read(.longSnapshot) { _ in 1 }
        }
        await #expect(throws: CancellationError.self) { try await read.value }
        #expect(ledger.waitingCount == 0)
    }
}
