/// What version 12 has added, as `LedgerSchema` has it.
extension PostgreSQLSchema {
    static let changeTable = """
        CREATE TABLE user_change (
            user_id BIGINT NOT NULL REFERENCES "user" (user_id),
            number BIGINT NOT NULL CHECK (number > 0),
            kind TEXT COLLATE "C" NOT NULL,
            subject TEXT COLLATE "C" NOT NULL,
            happened_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, number)
        );

        ALTER TABLE kept_answer ADD COLUMN user_id BIGINT;
        CREATE INDEX kept_answer_of_caller ON kept_answer (caller);
        CREATE INDEX kept_answer_about_user ON kept_answer (user_id) WHERE user_id IS NOT NULL;
        """
}
