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
        let (openings, gate) = AsyncStream<Void>.makeStream()
        let value = try await BlockingWork.run(waitingUpTo: .milliseconds(1)) {
            begin.finish()
            for await _ in openings {}
            end.finish()
            return 7
        }
        #expect(value == nil)
        for await _ in begins {}
        gate.finish()
        for await _ in ends {}
    }
}
