import Dispatch
import Foundation
import Server
import Testing

@Suite struct BlockingWorkTests {
    /// A disk that hangs holds each inline read. One thread of the process has to stay free to serve.
    @Test(.timeLimit(.minutes(1))) func `reads of several instances share one budget of inline threads`() async throws {
        let instances = (0..<2 * ProcessInfo.processInfo.activeProcessorCount).map { _ in
            BlockingWork(ledgerAnswersAtOnce: true)
        }
        let disk = DispatchSemaphore(value: 0)
        let reads = instances.map { work in Task { try await work.read { disk.wait() } } }
        // With a budget each, no thread would be left to run this.
        let isServed = await Task { true }.value
        #expect(isServed)
        for _ in reads { disk.signal() }
        for read in reads { try await read.value }
    }
}
