/// What version 12 has added: what users have changed of their own, for whoever listens, the last of each; and whom kept answers
/// are about, so that they go when the user does.
extension LedgerSchema {
    static let changeTable = """
        CREATE TABLE user_change (
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            number INTEGER NOT NULL CHECK (number > 0),
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            happened_at INTEGER NOT NULL,
            PRIMARY KEY (user_id, number)
        ) STRICT, WITHOUT ROWID;

        ALTER TABLE kept_answer ADD COLUMN user_id INTEGER;
        CREATE INDEX kept_answer_about_user ON kept_answer (user_id) WHERE user_id IS NOT NULL;
        """
}
