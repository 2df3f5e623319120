import Dispatch
import HTTPSupport
import Testing

@Suite struct BlockingWorkTests {
    private struct Failure: Error {}

    @Test func `work that is awaited in time returns its value or its error`() async throws {
        #expect(try await BlockingWork.run(waitingUpTo: .seconds(60)) { 7 } == 7)
        await #expect(throws: Failure.self) {
            try await BlockingWork.run(waitingUpTo: .seconds(60)) { throw Failure() }
        }
    }

    @Test func `longer work goes on without its caller`() async throws {
        let (begins, begin) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let value = try await BlockingWork.run(waitingUpTo: .milliseconds(1)) {
            begin.finish()
            gate.wait()
            end.finish()
            return 7
        }
        #expect(value == nil)
        for await _ in begins {}
        gate.signal()
        for await _ in ends {}
    }
}
